import Foundation
import HTTPTypes
import Service

extension Readeck {
  /// The end of a change at the service.
  enum Change: Sendable {
    /// It was made; `updated` is the bookmark's new time, nil for a deleted one.
    case made(updated: String?)
    /// The service itself refuses the change, and would again.
    case refused(ServiceError)
  }

  /// Sends new values of a bookmark's fields; nil deletes it. Throws for an answer that says nothing about the change.
  func send(_ fields: [String: JSON]?, to id: String) async throws -> Change {
    let body = try fields.map { Array(try JSONEncoder().encode($0)) } ?? []
    let reply = try await service.send(
      "/bookmarks/\(id.percentEscaped)", method: fields == nil ? .delete : .patch, body: body,
      fields: [.contentType: "application/json", .accept: "application/json"])
    let json = reply.json
    // Proxies, firewalls and login pages answer too, with any status, and the service has not seen the change.
    var isService = false
    if case .object = json { isService = true }
    guard isService || reply.status == 204 else {
      if !(200..<500).contains(reply.status) || [401, 404, 407, 408].contains(reply.status) {
        _ = try service.checked(reply)
      }
      if reply.isPage {
        throw ServiceError.wrongContent(
          path: reply.path, type: "a web page (\(reply.status))")
      }
      throw Self.tellsNothing(reply)
    }
    do {
      _ = try service.checked(reply)
    } catch {
      if error.isRefusal, !error.isTemporary, !error.refusesUser, !error.isMissing,
        !Self.gatewayStatuses.contains(reply.status)
      {
        return .refused(error)
      }
      throw error
    }
    guard [200, 204].contains(reply.status) else { throw Self.tellsNothing(reply) }
    if fields == nil { return .made(updated: nil) }
    // The time is compared with that of later lists, so it has to have their form.
    if let updated = json?["updated"]?.text, ServiceTime.isKnown(updated) {
      return .made(updated: updated)
    }
    let updated = try await bookmark(id).updated
    return .made(updated: updated)
  }

  /// The method, or a length: gateways refuse them, and readeck does not.
  private static let gatewayStatuses = [405, 413, 414, 431]

  private static func tellsNothing(_ reply: Reply) -> ServiceError {
    .undecodable(
      path: reply.path, reason: "it does not say that the change was made (\(reply.status))")
  }
}

extension ServiceError {
  /// Whether there is no such thing.
  var isMissing: Bool {
    if case .refused(status: 404, _) = self { true } else { false }
  }

  /// Whether the credential is not valid, or does not suffice.
  var refusesUser: Bool {
    if case .refused(let status, _) = self { [401, 403, 407].contains(status) } else { false }
  }
}
