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
    // The entries of a run, for the C targets.
    .target(name: "BenchData"),
    // LMDB as a C program would use it. The times of all other stores are compared with its times.
    .target(name: "RawLMDB", dependencies: ["BenchData"], linkerSettings: [.linkedLibrary("lmdb")]),
    // SQLite as a C program would use it.
    .target(
      name: "RawSQLite", dependencies: ["BenchData"], linkerSettings: [.linkedLibrary("sqlite3")]),
    // RocksDB and LevelDB. The program looks for their libraries at run time.
    .target(
      name: "LSMStores", dependencies: ["BenchData"],
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // libmdbx and tkrzw. The program also looks for their libraries at run time.
    .target(
      name: "FoundStores", dependencies: ["BenchData"],
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
    // Compares Larder with stores that a program could use instead. The target calls C, so it cannot use strict memory safety.
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
    // Replays traces of accesses through simulated cache policies and through the store.
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
