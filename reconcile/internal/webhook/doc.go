// Package webhook serves what the API server asks over HTTP: one review in, one review out, within limits of size, time
// and number. What can't be answered has another HTTP status than 200, so that the API server goes by its failure
// policy.
package webhook
