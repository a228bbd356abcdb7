// Package wire is how a manager and a version of the operator that runs as its child speak to each other: calls in both directions over
// one pair of streams. PROTOCOL.md beside package versions is the contract for those who write either side anew.
//
// A frame is four bytes that tell its length, the highest first, and a message in CBOR (RFC 8949). A message is a call, an answer to one, a
// notice that nobody answers, or the end of the caller's interest in a call. Both sides may have as many calls under way as they like;
// answers come in whatever order.
//
// It knows nothing of what the calls mean, save for the types of the messages, which both sides share. Nobody else uses it.
package wire
