// Package wire is the connection between a manager and a version of the operator that runs as its child: calls in both
// directions over one pair of streams. PROTOCOL.md beside package versions is the contract for other implementations.
//
// A frame is a length of four bytes, big-endian, and a message in CBOR (RFC 8949). A message is a call, the answer to a
// call, a notice without an answer, or the cancellation of a call. Both sides may have any number of calls under way;
// answers come in any order.
//
// This package knows the types of the messages, which both sides share, but not what the calls do. Use packages
// versions and child.
package wire
