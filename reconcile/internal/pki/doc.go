// Package pki has the certificates of a CA and its leaves, as functions of their inputs alone: it reads no clock, no
// cluster and no files. Its errors never contain a key.
//
//   - Pair is a certificate with its key, as PEM and parsed.
//   - NewCA and Issue make certificates.
//   - Judge decides whether a stored leaf is kept, and until when.
//   - Authority is a CA, maybe in the middle of its replacement by another one, which goes in stages.
//   - Trust joins CAs that others have stored.
package pki
