// Package text makes what strangers' programs say fit for an error or a log.
package text
