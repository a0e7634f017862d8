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

/// For the layers that lend bytes: methods there return spans tied to a transaction.
let lending: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

// MARK: - Examples

/// LARDER_EXAMPLES=0 leaves the examples out, for a quicker build of the library and the shell.
let buildsExamples = Context.environment["LARDER_EXAMPLES"] != "0"

let examplePrograms: [Product] = [
  .executable(name: "larder-lego", targets: ["LarderLego"]),
  .executable(name: "larder-departures", targets: ["LarderDepartures"]),
  .executable(name: "larder-articles", targets: ["LarderArticles"]),
  .executable(name: "larder-catalog", targets: ["LarderCatalog"]),
]

let httpTypes: Target.Dependency = .product(
  name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTP"]))
let argumentParser: Target.Dependency = .product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Examples"]))

/// An adapter: a library, a program over it, and their tests, in a folder of its own.
func adapter(_ name: String, library: String, program: String) -> [Target] {
  [
    .target(
      name: library, dependencies: ["Larder", "LarderHTTP", "Service", httpTypes],
      path: "Examples/\(name)/\(library)", swiftSettings: strict),
    .executableTarget(
      name: program,
      dependencies: [
        "Larder", "LarderHTTP", "LarderURLSession", "ExampleProgram", "Service", httpTypes,
        argumentParser, .target(name: library),
      ],
      path: "Examples/\(name)/\(program)", swiftSettings: strict),
    .testTarget(
      name: "\(name)Tests",
      dependencies: exampleTests + [.target(name: library), .target(name: program)],
      path: "Examples/\(name)/Tests", swiftSettings: strict),
  ]
}

/// The tests run `larder` on the stores that the programs wrote.
let exampleTests: [Target.Dependency] = [
  "Larder", "LarderHTTP", "LarderCurl", "LarderURLSession", "ExampleTesting", "Service",
  "LarderCommand", "TestSupport", httpTypes,
]

let examples: [Target] =
  [
    .executableTarget(
      name: "larder-rates",
      dependencies: [
        "Larder", "LarderHTTP", "LarderURLSession", "ExampleProgram", "Service", httpTypes,
        argumentParser,
      ],
      path: "Examples/Rates", swiftSettings: strict),
    .target(
      name: "Service", dependencies: ["Larder", "LarderHTTP", "LarderCurl", httpTypes],
      path: "Examples/Shared/Service", swiftSettings: strict),
    .target(
      name: "ExampleProgram",
      dependencies: [
        "Larder", "LarderHTTP", "LarderCurl", "LarderURLSession", "Service", httpTypes,
        argumentParser,
      ],
      path: "Examples/Shared/ExampleProgram", swiftSettings: strict),
    .target(
      name: "ExampleTesting",
      dependencies: [
        "Larder", "LarderHTTP", "LarderHTTPTesting", "LarderTesting", "LarderURLSession",
        "Service", "TestSupport", httpTypes,
      ],
      path: "Examples/Shared/ExampleTesting", swiftSettings: strict),
    .testTarget(
      name: "SharedTests", dependencies: exampleTests + ["ExampleProgram", "larder-rates"],
      path: "Examples/Shared/Tests", swiftSettings: strict),
  ] + adapter("Lego", library: "LegoCache", program: "LarderLego")
  + adapter("Departures", library: "Departures", program: "LarderDepartures")
  + adapter("Articles", library: "Articles", program: "LarderArticles")
  + adapter("Catalog", library: "Catalog", program: "LarderCatalog")

// MARK: - Package

let package = Package(
  name: "larder",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "Larder", targets: ["Larder"]),
    .library(name: "LarderCompression", targets: ["LarderCompression"]),
    .library(name: "LarderEncryption", targets: ["LarderEncryption"]),
    .library(name: "LarderHTTP", targets: ["LarderHTTP"]),
    .library(name: "LarderURLSession", targets: ["LarderURLSession"]),
    .library(name: "LarderCurl", targets: ["LarderCurl"]),
    .library(name: "LarderAsyncHTTPClient", targets: ["LarderAsyncHTTPClient"]),
    .library(name: "LarderTesting", targets: ["LarderTesting"]),
    .library(name: "LarderMonitoring", targets: ["LarderMonitoring"]),
    .library(name: "LarderHTTPTesting", targets: ["LarderHTTPTesting"]),
    .library(name: "LarderShared", targets: ["LarderShared"]),
    .library(name: "LarderSharedTesting", targets: ["LarderSharedTesting"]),
    .library(name: "LarderRedis", targets: ["LarderRedis"]),
    .library(name: "LarderValkey", targets: ["LarderValkey"]),
    .executable(name: "larder", targets: ["LarderCommand"]),
    // For tests alone: it is preloaded into processes whose writes are recorded.
    .library(name: "PowerRecorder", type: .dynamic, targets: ["PowerRecorder"]),
  ] + (buildsExamples ? examplePrograms : []),
  traits: [
    // The traits that each build of this package has. A package that uses the product Larder alone names `traits: []`, and
    // fetches no other package.
    .default(enabledTraits: ["Examples", "HTTPTesting"]),
    .trait(
      name: "Examples", description: "The example programs, by swift-argument-parser.",
      enabledTraits: ["Curl"]),
    .trait(name: "HTTP", description: "LarderHTTP and its transports, by swift-http-types."),
    .trait(
      name: "HTTPTesting", description: "LarderHTTPTesting, by FlyingFox.",
      enabledTraits: ["HTTP"]),
    .trait(
      name: "ServiceLifecycle", description: "Lets `Maintenance` run in a `ServiceGroup`."),
    .trait(
      name: "Curl",
      description: "Carries the requests of `HTTPCache` by the system's libcurl.",
      enabledTraits: ["HTTP"]),
    .trait(
      name: "AsyncHTTPClient",
      description: "Carries the requests of `HTTPCache` by AsyncHTTPClient.",
      enabledTraits: ["HTTP"]),
    .trait(name: "Logging", description: "Reports the events of a `StoreMonitor` to swift-log."),
    .trait(
      name: "Metrics", description: "Reports the figures of a `StoreMonitor` to swift-metrics."),
    .trait(name: "Compression", description: "Compresses values with the system's libzstd."),
    .trait(name: "Encryption", description: "Encrypts values and metadata by swift-crypto."),
    .trait(name: "Redis", description: "Connects `Shared` to a Redis or Valkey server."),
    .trait(name: "Valkey", description: "Connects `Shared` to servers by valkey-swift."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    // Fetched and built only with the traits that name them.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
    .package(url: "https://github.com/valkey-io/valkey-swift", from: "1.4.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLMDB", path: "Sources/Core/CLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "CEditline", path: "Sources/Shell/CEditline", pkgConfig: "libedit",
      providers: [.apt(["libedit-dev"]), .brew(["libedit"])]),

    .systemLibrary(
      name: "CZstd", path: "Sources/Extras/CZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

    .systemLibrary(
      name: "CCurl", path: "Sources/HTTP/CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),

    .systemLibrary(name: "CLarderSystem", path: "Sources/Core/CLarderSystem"),
    .target(
      name: "LarderSystem", dependencies: ["CLarderSystem"], path: "Sources/Core/LarderSystem",
      swiftSettings: lending),
    .target(
      name: "LMDB", dependencies: ["CLMDB", "CLarderSystem", "LarderSystem"],
      path: "Sources/Core/LMDB", swiftSettings: lending),
    .target(
      name: "Larder",
      dependencies: [
        "LMDB", "LarderSystem",
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["ServiceLifecycle"])),
      ],
      path: "Sources/Core/Larder", swiftSettings: lending),
    .target(
      name: "Zstd",
      dependencies: [.target(name: "CZstd", condition: .when(traits: ["Compression"]))],
      path: "Sources/Extras/Zstd", swiftSettings: strict),
    .target(
      name: "LarderCompression", dependencies: ["Larder", "LarderSystem", "Zstd"],
      path: "Sources/Extras/LarderCompression", swiftSettings: strict),
    .target(
      name: "LarderEncryption",
      dependencies: [
        "Larder", "LarderSystem",
        .product(
          name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Encryption"])),
      ],
      path: "Sources/Extras/LarderEncryption", swiftSettings: strict),
    .target(
      name: "LarderHTTP",
      dependencies: [
        "Larder", "LarderSystem", httpTypes,
      ],
      path: "Sources/HTTP/LarderHTTP", swiftSettings: strict),
    .target(
      name: "LarderURLSession",
      dependencies: ["LarderHTTP", httpTypes],
      path: "Sources/HTTP/LarderURLSession", swiftSettings: strict),
    .target(
      name: "LarderCurl",
      dependencies: [
        "LarderHTTP", "LarderSystem", httpTypes,
        .target(name: "CCurl", condition: .when(traits: ["Curl"])),
      ],
      path: "Sources/HTTP/LarderCurl", swiftSettings: strict),
    .target(
      name: "LarderAsyncHTTPClient",
      dependencies: [
        "LarderHTTP", httpTypes,
        .product(
          name: "AsyncHTTPClient", package: "async-http-client",
          condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
        .product(
          name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
      ],
      path: "Sources/HTTP/LarderAsyncHTTPClient", swiftSettings: strict),
    .target(
      name: "LarderMonitoring",
      dependencies: [
        "Larder",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
        .product(
          name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
      ],
      path: "Sources/Extras/LarderMonitoring", swiftSettings: strict),
    .target(
      name: "LarderTesting", dependencies: ["Larder"], path: "Sources/Testing/LarderTesting",
      swiftSettings: strict),
    .target(
      name: "LarderHTTPTesting",
      dependencies: [
        "LarderHTTP", httpTypes,
        .product(
          name: "FlyingFox", package: "FlyingFox", condition: .when(traits: ["HTTPTesting"])),
        .product(
          name: "FlyingSocks", package: "FlyingFox", condition: .when(traits: ["HTTPTesting"])),
      ],
      path: "Sources/Testing/LarderHTTPTesting", swiftSettings: strict),
    .target(
      name: "LarderShared", dependencies: ["Larder", "LarderSystem"],
      path: "Sources/Shared/LarderShared", swiftSettings: strict),
    .target(
      name: "LarderSharedTesting", dependencies: ["Larder", "LarderShared"],
      path: "Sources/Testing/LarderSharedTesting", swiftSettings: strict),
    .target(
      name: "LarderRedis",
      dependencies: [
        "Larder", "LarderShared",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Redis"])),
        .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Redis"])),
      ],
      path: "Sources/Shared/LarderRedis", swiftSettings: strict),
    .target(
      name: "LarderValkey",
      dependencies: [
        "Larder", "LarderShared",
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Valkey"])),
        .product(name: "Valkey", package: "valkey-swift", condition: .when(traits: ["Valkey"])),
      ],
      path: "Sources/Shared/LarderValkey", swiftSettings: strict),
    .target(
      name: "ShellLanguage", dependencies: ["LarderSystem"], path: "Sources/Shell/ShellLanguage",
      swiftSettings: strict),
    .target(
      name: "LarderShell",
      dependencies: ["Larder", "LarderShared", "LarderSystem", "ShellLanguage"],
      path: "Sources/Shell/LarderShell", swiftSettings: strict),
    .target(
      name: "LarderTerminal", dependencies: ["CEditline"], path: "Sources/Shell/LarderTerminal",
      swiftSettings: strict),
    .executableTarget(
      name: "LarderCommand",
      dependencies: [
        "Larder", "LarderCompression", "LarderShell", "LarderSystem", "LarderTerminal",
        "ShellLanguage",
      ],
      path: "Sources/Shell/LarderCommand", swiftSettings: strict),

    .executableTarget(
      name: "quickstart", dependencies: ["Larder"], path: "Examples/QuickStart",
      swiftSettings: strict),
    .executableTarget(
      name: "weather", dependencies: ["Larder"], path: "Examples/Tutorial",
      swiftSettings: strict),
    .executableTarget(
      name: "LarderPeer",
      dependencies: [
        "LMDB", "LarderSystem", "Larder", "LarderHTTP", "TestSupport", httpTypes,
      ],
      path: "Tests/Support/Peer",
      swiftSettings: strict),
    .target(name: "TestSupport", path: "Tests/Support/TestSupport", swiftSettings: strict),
    .target(name: "PowerRecorder", path: "Tests/Support/PowerRecorder"),
    .testTarget(
      name: "LMDBTests", dependencies: ["LMDB", "LarderSystem", "LarderPeer", "TestSupport"],
      path: "Tests/Core/LMDBTests", swiftSettings: strict),
    .testTarget(
      name: "LarderTests",
      dependencies: [
        "Larder", "LMDB", "LarderSystem", "LarderMonitoring", "LarderPeer", "LarderTesting",
        "TestSupport",
      ],
      path: "Tests/Core/LarderTests", swiftSettings: strict),
    .testTarget(
      name: "LarderHTTPTests",
      dependencies: [
        "LarderHTTP", "LarderHTTPTesting", "LarderURLSession", "LarderCurl", "Larder",
        "LarderPeer",
        "TestSupport", httpTypes,
        .product(
          name: "FlyingSocks", package: "FlyingFox", condition: .when(traits: ["HTTPTesting"])),
      ],
      path: "Tests/HTTP/LarderHTTPTests", swiftSettings: strict),
    .testTarget(
      name: "LarderSharedTests",
      dependencies: [
        "LarderShared", "LarderSharedTesting", "LarderRedis", "Larder", "TestSupport",
        .product(
          name: "FlyingSocks", package: "FlyingFox", condition: .when(traits: ["HTTPTesting"])),
      ],
      path: "Tests/Shared/LarderSharedTests", swiftSettings: strict),
    .testTarget(
      name: "LarderShellTests",
      dependencies: [
        "LarderShell", "LarderShared", "LarderSharedTesting", "ShellLanguage", "TestSupport",
      ],
      path: "Tests/Shell/LarderShellTests", swiftSettings: strict),
    .testTarget(
      name: "LarderCommandTests",
      dependencies: [
        "LarderCommand", "LarderTerminal", "LineEditorProbe", "Larder", "quickstart", "weather",
        "TestSupport",
      ],
      path: "Tests/Shell/LarderCommandTests", swiftSettings: strict),
    .executableTarget(
      name: "LineEditorProbe", dependencies: ["LarderTerminal"],
      path: "Tests/Shell/LineEditorProbe",
      swiftSettings: strict),
  ] + (buildsExamples ? examples : [])
)
