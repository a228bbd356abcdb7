// Package deploytest holds an implementation of deploy.Cluster to its contract: what package
// deploy documents of a Port and a View, what an API server does about server-side apply, and what
// a deploy.Manager makes of both.
//
// [Run] is the whole of it. Give it a cluster for each case, and it tells which cases pass. The
// ports of this module, deploy/cluster and deploy/dryrun, pass all of them; whoever wraps one of
// them, or writes a third one, can show the same.
//
// Use it in a test of such an implementation. To test a program that uses package deploy, take
// deploy/dryrun. What a cluster may have beyond the contract (subresources other than status,
// webhooks, rights, conversion) isn't looked at.
package deploytest
