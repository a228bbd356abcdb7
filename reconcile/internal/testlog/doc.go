// Package testlog keeps what a logger writes in a test.
package testlog
