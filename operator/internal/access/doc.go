// Package access protects HTTP pages. Clients must send a token that the API server knows. RBAC must allow the token's
// user to get the path of the page, by a nonResourceURLs rule with the verb get.
//
// Use it for pages that not everybody in the cluster should read. The process needs the ClusterRole
// system:auth-delegator.
package access
