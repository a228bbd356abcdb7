// Package deploytest tests implementations of deploy.Cluster. It tests that a Port and a View do what package deploy
// documents, that server-side apply works as in an API server, and that a deploy.Manager works with both.
//
// [Run] runs all cases, each with a cluster that the caller provides. Both implementations of this module,
// deploy/cluster and deploy/dryrun, pass all of them. Use it to test another implementation, or an implementation that
// wraps one of these.
//
// To test a program that uses package deploy, use deploy/dryrun instead. Subresources other than
// status, webhooks, RBAC and conversion aren't part of the contract and aren't tested.
package deploytest
