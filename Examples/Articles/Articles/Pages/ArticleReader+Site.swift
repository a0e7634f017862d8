public import Foundation
import Larder
import LarderHTTP
import Service

/// The result of writing a site.
public struct SiteReport: Codable, Sendable, Hashable {
  public var articles = 0
  public var images = 0
  public var bytes = 0
  /// Stored drawings that are not written, because they may run code or load something.
  public var leftOut: [String] = []
}

/// A folder cannot be written.
public struct SiteError: Error, CustomStringConvertible { public var description: String }

extension ArticleReader {
  /// Writes the stored articles that are not archived as one page, `index.html`, with their images in a folder beside it. Sends
  /// no request.
  ///
  /// The page replaces an earlier one that this function wrote, no other. Images that it does not show any more stay.
  ///
  /// - Parameter progress: called after each article.
  public func writeSite(
    to folder: URL, progress: (_ done: Int, _ of: Int) -> Void = { _, _ in }
  ) async throws -> SiteReport {
    var report = SiteReport()
    var page = SitePage()
    let articles = try stored().filter { !$0.bookmark.isArchived }
    let images = folder.appending(path: "images")
    do {
      let index = folder.appending(path: "index.html")
      try Self.checkReplaceable(index)
      try FileManager.default.createDirectory(at: images, withIntermediateDirectories: true)
      var files: [String: String] = [:]
      for (number, article) in articles.enumerated() {
        let kept = try Dictionary(
          article.images.compactMap { address in
            try imageFile(address, in: images, &files, &report).map { (address, $0) }
          }
        ) { first, _ in first }
        let safe = SafeHTML(
          base: URL(browsing: article.bookmark.url),
          imageBase: URL(browsing: readeck.address(of: article.bookmark.id)), file: { kept[$0] })
        // It may have been removed meanwhile.
        if let html = try await storage.html(of: article.bookmark.id) {
          page.add(article.bookmark, html: safe.sanitized(html))
          report.articles += 1
        }
        progress(number + 1, articles.count)
      }
      let bytes = Data(page.html.utf8)
      try bytes.write(to: index, options: .atomic)
      report.bytes += bytes.count
      return report
    } catch let error as CocoaError {
      throw SiteError(description: "cannot write to \(folder.path): \(error.fileWords)")
    }
  }

  private static func checkReplaceable(_ index: URL) throws {
    guard FileManager.default.fileExists(atPath: index.path) else { return }
    let page = String(decoding: try Data(contentsOf: index), as: UTF8.self)
    guard page.contains("<meta name=\"generator\" content=\"\(SitePage.generator)\">") else {
      throw SiteError(description: "\(index.path) is not a page of this program: it stays as it is")
    }
  }

  /// Writes an image; returns its path from the page, or nil if it is not stored or no image that browsers know.
  private func imageFile(
    _ address: String, in folder: URL, _ files: inout [String: String], _ report: inout SiteReport
  ) throws -> String? {
    if let known = files[address] { return known }
    guard let bytes = try storage.images.value(for: address), !bytes.isEmpty,
      let format = ImageFormat(bytes)
    else { return nil }
    if format == .svg, !SafeDrawing.isSafe(bytes) {
      let name = ImageAddresses.name(of: address)
      if !report.leftOut.contains(name) { report.leftOut.append(name) }
      return nil
    }
    let name = Secrets.digest(address, in: storage.store).prefix(16) + "." + format.rawValue
    try Data(bytes).write(to: folder.appending(path: String(name)), options: .atomic)
    report.images += 1
    report.bytes += bytes.count
    files[address] = "images/" + name
    return files[address]
  }
}
