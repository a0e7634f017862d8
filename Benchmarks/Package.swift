// swift-tools-version: 6.2
import PackageDescription

let plain: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]
let strict: [SwiftSetting] = plain + [.strictMemorySafety()]

let package = Package(
  name: "larder-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "larder", path: "..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // The entries for every store in C.
    .target(name: "BenchData"),
    // LMDB as a C program would use it: the reference for all other stores.
    .target(name: "RawLMDB", dependencies: ["BenchData"], linkerSettings: [.linkedLibrary("lmdb")]),
    // SQLite as a C program would use it.
    .target(
      name: "RawSQLite", dependencies: ["BenchData"], linkerSettings: [.linkedLibrary("sqlite3")]),
    // RocksDB and LevelDB, which the program looks for when it runs.
    .target(
      name: "LSMStores", dependencies: ["BenchData"],
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // libmdbx and tkrzw, which the program also looks for when it runs.
    .target(
      name: "FoundStores", dependencies: ["BenchData"],
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // Compares Larder with stores that could replace Larder. The target calls C, so it is not memory-safe in the strict sense.
    .executableTarget(
      name: "LarderBench",
      dependencies: [
        "BenchData", "RawLMDB", "RawSQLite", "LSMStores", "FoundStores",
        .product(name: "Larder", package: "larder"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      resources: [.copy("Resources/diskcache.py")],
      swiftSettings: plain),
    // Replays access traces through simulated cache policies and through the store.
    .executableTarget(
      name: "TraceBench",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TraceBenchTests", dependencies: ["TraceBench"],
      swiftSettings: strict),
  ]
)
