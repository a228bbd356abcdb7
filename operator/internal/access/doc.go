// Package access protects HTTP pages: clients must send a token that the API server knows, and whose user RBAC lets get
// the page's path, by a nonResourceURLs rule with the verb get.
//
// Use it for pages that not everybody in the cluster should read. The process needs the ClusterRole
// system:auth-delegator.
package access
