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

/// For the two layers that lend bytes: methods there return spans tied to a transaction.
let lending: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

let package = Package(
  name: "larder",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderHTTP", targets: ["LarderHTTP"]),
    .library(name: "LarderURLSession", targets: ["LarderURLSession"]),
    .library(name: "LarderAsyncHTTPClient", targets: ["LarderAsyncHTTPClient"]),
    .library(name: "LarderShell", targets: ["LarderShell"]),
    .executable(name: "larder", targets: ["LarderCommand"]),
    // For tests alone: it is preloaded into processes whose writes are recorded.
    .library(name: "PowerRecorder", type: .dynamic, targets: ["PowerRecorder"]),
  ],
  traits: [
    .trait(
      name: "ServiceLifecycle", description: "Lets `Maintenance` run in a `ServiceGroup`."),
    .trait(
      name: "AsyncHTTPClient",
      description: "Carries the requests of `HTTPCache` by AsyncHTTPClient."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    // Fetched and built only with the traits that name them.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CEditline", pkgConfig: "libedit",
      providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),

    .target(name: "LMDB", dependencies: ["CLMDB"], swiftSettings: lending),
    .target(
      name: "Larder",
      dependencies: [
        "LMDB",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["ServiceLifecycle"])),
      ],
      swiftSettings: lending),
    .target(
      name: "LarderHTTP",
      dependencies: ["Larder", .product(name: "HTTPTypes", package: "swift-http-types")],
      swiftSettings: strict),
    .target(
      name: "LarderURLSession",
      dependencies: ["LarderHTTP", .product(name: "HTTPTypes", package: "swift-http-types")],
      swiftSettings: strict),
    .target(
      name: "LarderAsyncHTTPClient",
      dependencies: [
        "LarderHTTP", .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(
          name: "AsyncHTTPClient", package: "async-http-client",
          condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
      ],
      swiftSettings: strict),
    .target(name: "ShellLanguage", swiftSettings: strict),
    .target(
      name: "LarderShell", dependencies: ["Larder", "ShellLanguage"], swiftSettings: strict),
    .target(name: "LarderTerminal", dependencies: ["CEditline"], swiftSettings: strict),
    .executableTarget(
      name: "LarderCommand",
      dependencies: [
        "Larder", "LarderShell", "LarderTerminal", "ShellLanguage",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    .executableTarget(
      name: "quickstart", dependencies: ["Larder"], path: "Examples/QuickStart",
      swiftSettings: strict),
    .executableTarget(
      name: "LarderPeer",
      dependencies: [
        "LMDB", "Larder", "LarderHTTP", .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      path: "Tests/Peer",
      swiftSettings: strict),
    .target(name: "PowerRecorder", path: "Tests/PowerRecorder"),
    .testTarget(name: "LMDBTests", dependencies: ["LMDB", "LarderPeer"], swiftSettings: strict),
    .testTarget(
      name: "LarderTests", dependencies: ["Larder", "LMDB", "LarderPeer"], swiftSettings: strict),
    .testTarget(
      name: "LarderHTTPTests",
      dependencies: [
        "LarderHTTP", "LarderURLSession", "Larder", "LarderPeer",
        .product(name: "HTTPTypes", package: "swift-http-types"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LarderShellTests", dependencies: ["LarderShell", "ShellLanguage"],
      swiftSettings: strict),
    .testTarget(
      name: "LarderCommandTests",
      dependencies: ["LarderCommand", "LarderTerminal", "LineEditorProbe", "Larder", "quickstart"],
      swiftSettings: strict),
    .executableTarget(
      name: "LineEditorProbe", dependencies: ["LarderTerminal"], path: "Tests/LineEditorProbe",
      swiftSettings: strict),
  ]
)
