// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
]

let package = Package(
  name: "larder-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "larder", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    // LMDB as a C program would use it: the limit that everything else is measured against.
    .target(name: "RawLMDB", linkerSettings: [.linkedLibrary("lmdb")]),
    .executableTarget(
      name: "LarderBench",
      dependencies: [
        "RawLMDB",
        .product(name: "Larder", package: "larder"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)]),
    // Access traces through simulated cache policies, and through the store.
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
