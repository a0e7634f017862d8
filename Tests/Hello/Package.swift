// swift-tools-version: 6.2
import PackageDescription

// The smallest program with a cache, as a package of its own: `Scripts/hello` shows what the package fetches, and measures it.
let package = Package(
  name: "hello",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "larder", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "hello", dependencies: [.product(name: "Larder", package: "larder")], path: "Sources")
  ]
)
