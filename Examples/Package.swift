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

let larder: Target.Dependency = .product(name: "Larder", package: "larder")
let http: [Target.Dependency] = [
  larder, .product(name: "LarderHTTP", package: "larder"),
  .product(name: "HTTPTypes", package: "swift-http-types"),
]
let program: [Target.Dependency] =
  http + [
    "ExampleProgram", "Service", .product(name: "LarderURLSession", package: "larder"),
    .product(name: "ArgumentParser", package: "swift-argument-parser"),
  ]
let tests: [Target.Dependency] =
  http + [
    "ExampleTesting", "Service", .product(name: "LarderURLSession", package: "larder"),
    // Built for the tests, which run it on what the programs have stored.
    .product(name: "larder", package: "larder"),
  ]

/// An adapter: a library, a program over it, and their tests, in a folder of its own.
func adapter(_ name: String, library: String, program executable: String) -> [Target] {
  [
    .target(
      name: library, dependencies: http + ["Service"], path: "\(name)/\(library)",
      swiftSettings: strict),
    .executableTarget(
      name: executable, dependencies: program + [.target(name: library)],
      path: "\(name)/\(executable)", swiftSettings: strict),
    .testTarget(
      name: "\(name)Tests",
      dependencies: tests + [.target(name: library), .target(name: executable)],
      path: "\(name)/Tests", swiftSettings: strict),
  ]
}

// A package of its own, written as a user of Larder would write it.
let package = Package(
  name: "larder-examples",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "larder-lego", targets: ["LarderLego"]),
    .executable(name: "larder-departures", targets: ["LarderDepartures"]),
    .executable(name: "larder-articles", targets: ["LarderArticles"]),
    .executable(name: "larder-catalog", targets: ["LarderCatalog"]),
  ],
  dependencies: [
    .package(name: "larder", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    // For tests alone: the services that adapters talk to.
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .target(
      name: "ExampleProgram",
      dependencies: http + [
        "Service", .product(name: "LarderURLSession", package: "larder"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Shared/ExampleProgram", swiftSettings: strict),
    .target(name: "Service", dependencies: http, path: "Shared/Service", swiftSettings: strict),
    .target(
      name: "ExampleTesting",
      dependencies: http + [
        .product(name: "LarderShell", package: "larder"),
        .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      path: "Shared/ExampleTesting", swiftSettings: strict),
    .testTarget(
      name: "SharedTests", dependencies: tests + ["ExampleProgram", "larder-rates"],
      path: "Shared/Tests", swiftSettings: strict),
    // The one of README.md.
    .executableTarget(
      name: "larder-rates",
      dependencies: http + ["Service", .product(name: "LarderURLSession", package: "larder")],
      path: "Rates", swiftSettings: strict),
  ] + adapter("Lego", library: "LegoCache", program: "LarderLego")
    + adapter("Departures", library: "Departures", program: "LarderDepartures")
    + adapter("Articles", library: "Articles", program: "LarderArticles")
    + adapter("Catalog", library: "Catalog", program: "LarderCatalog")
)
