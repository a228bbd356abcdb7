// Package webhooks answers what the API server asks an operator, and keeps in the cluster what the API server has to
// know for that: the configurations of webhooks, the conversion of CustomResourceDefinitions, and policies.
package webhooks
