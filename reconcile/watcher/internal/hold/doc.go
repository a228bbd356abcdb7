// Package hold decides what a watcher with a finalizer does for an event: which function is called, and which
// finalizers are written before and after it. It has no client.
package hold
