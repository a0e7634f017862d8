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
  .product(name: "LarderHummingbird", package: "larder"),
  .product(name: "Hummingbird", package: "hummingbird"),
]

// A package of its own, because a build of Hummingbird takes minutes.
let package = Package(
  name: "larder-server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "larder", path: "../..", traits: ["Hummingbird"]),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "larder-server", dependencies: libraries, path: "Sources/Server", swiftSettings: strict),
    .testTarget(
      name: "ServerTests",
      dependencies: libraries + [
        "larder-server",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "LarderHTTP", package: "larder"),
        .product(name: "LarderTesting", package: "larder"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: strict),
  ]
)
