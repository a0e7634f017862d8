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

let shared: [Target.Dependency] = [
  .product(name: "Larder", package: "larder"),
  .product(name: "LarderHTTP", package: "larder"),
  .product(name: "HTTPTypes", package: "swift-http-types"),
  .product(name: "NIOCore", package: "swift-nio"),
  .product(name: "NIOPosix", package: "swift-nio"),
]

// A package of its own, so that users of the library do not need to fetch SwiftNIO.
let package = Package(
  name: "larder-proxy",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "larder-proxy", targets: ["LarderProxy"])],
  traits: [
    .trait(name: "AsyncHTTPClient", description: "Tests that transport of the library as well.")
  ],
  dependencies: [
    .package(
      name: "larder", path: "../..",
      traits: [
        "HTTP", "Curl",
        .trait(name: "AsyncHTTPClient", condition: .when(traits: ["AsyncHTTPClient"])),
      ]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .target(name: "ProxyServer", dependencies: shared, swiftSettings: strict),
    .executableTarget(
      name: "LarderProxy",
      dependencies: shared + [
        "ProxyServer", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ProxyTests",
      dependencies: shared + [
        "ProxyServer", "LarderProxy", .product(name: "LarderURLSession", package: "larder"),
        .product(name: "LarderCurl", package: "larder"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(
          name: "LarderAsyncHTTPClient", package: "larder",
          condition: .when(traits: ["AsyncHTTPClient"])),
      ],
      swiftSettings: strict),
  ]
)
