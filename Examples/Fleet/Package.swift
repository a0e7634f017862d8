// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let libraries: [Target.Dependency] = [
  .product(name: "Larder", package: "larder"),
  .product(name: "LarderShared", package: "larder"),
  .product(name: "LarderSharedTesting", package: "larder"),
  .product(name: "LarderRedis", package: "larder"),
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

// A package of its own because it needs SwiftNIO: a program that uses only the library does not fetch SwiftNIO.
let package = Package(
  name: "larder-fleet",
  platforms: [.macOS(.v15)],
  traits: [.trait(name: "Valkey", description: "Tests LarderValkey as well.")],
  dependencies: [
    .package(
      name: "larder", path: "../..",
      traits: ["Redis", .trait(name: "Valkey", condition: .when(traits: ["Valkey"]))]),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    // These packages are fetched and built only with the trait Valkey.
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/valkey-io/valkey-swift", from: "1.4.0"),
  ],
  targets: [
    .target(name: "FleetKit", dependencies: libraries, swiftSettings: strict),
    .executableTarget(name: "fleet", dependencies: ["FleetKit"], swiftSettings: strict),
    .testTarget(
      name: "RedisTests",
      dependencies: libraries + [
        "FleetKit", "fleet",
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(
          name: "LarderValkey", package: "larder", condition: .when(traits: ["Valkey"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Valkey"])),
        .product(
          name: "Valkey", package: "valkey-swift", condition: .when(traits: ["Valkey"])),
      ],
      swiftSettings: strict),
  ]
)
