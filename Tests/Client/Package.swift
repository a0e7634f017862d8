// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error),
]

// A client of the libraries, which sees their public API alone. It holds every program of the documents, and the tests of what
// the optional dependencies add, so that the other tests need none of them.
let package = Package(
  name: "larder-client",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(
      name: "larder", path: "../..",
      traits: [
        "Compression", "Encryption", "HTTPTesting", "Logging", "Metrics", "ServiceLifecycle",
      ]),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .testTarget(
      name: "DocumentTests",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderHTTP", package: "larder"),
        .product(name: "LarderHTTPTesting", package: "larder"),
        .product(name: "LarderMonitoring", package: "larder"),
        .product(name: "LarderShared", package: "larder"),
        .product(name: "LarderSharedTesting", package: "larder"),
        .product(name: "LarderTesting", package: "larder"),
        .product(name: "LarderURLSession", package: "larder"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Documents", swiftSettings: strict),
    .testTarget(
      name: "TraitTests",
      dependencies: [
        .product(name: "Larder", package: "larder"),
        .product(name: "LarderCompression", package: "larder"),
        .product(name: "LarderEncryption", package: "larder"),
        .product(name: "LarderMonitoring", package: "larder"),
        .product(name: "LarderTesting", package: "larder"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      path: "Traits", swiftSettings: strict),
  ]
)
