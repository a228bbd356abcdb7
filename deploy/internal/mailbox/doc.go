// Package mailbox is where events wait for a handler that may be slower than they come.
package mailbox
