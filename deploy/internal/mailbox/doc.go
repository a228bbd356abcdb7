// Package mailbox provides an unbounded queue for events whose handler may be slow.
package mailbox
