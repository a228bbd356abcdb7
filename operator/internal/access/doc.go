// Package access lets somebody read an HTTP page who shows a token that the API server knows, and whom RBAC lets get the page's
// path: a nonResourceURLs rule with the verb get.
//
// Use it for pages that whoever runs in a cluster shouldn't read. The process that asks needs the ClusterRole system:auth-delegator.
package access
