package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	leases      = schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// clockSkew is by how much the clocks of two machines are assumed to differ at most, for a warning.
const clockSkew = time.Minute

// running returns why the operator seems to run in the cluster, or why that isn't known, with what to do. It asks for
// the Lease of its leader election and for a Deployment with its name. why is why it has to be stopped.
func (o *Operator) running(ctx context.Context, p *Process, c *connection, why string) (warnings []string) {
	name := cmp.Or(p.LeaderElection.Name, o.Name)
	held, err := c.ofName(ctx, leases, p.LeaderElection.Namespace, name)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("it isn't known whether the operator runs: %v: see for yourself, or give its namespace by "+
			"--leader-election.namespace", c.explained(err)))
	}
	for _, lease := range held {
		if holder := holderOf(lease, time.Now()); holder != "" {
			warnings = append(warnings, fmt.Sprintf("the operator runs: %s is held by %s: stop it, because %s",
				deploy.RefOf(lease), holder, why))
		}
	}
	found, err := c.ofName(ctx, deployments, p.LeaderElection.Namespace, o.Name)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("it isn't known whether the operator is deployed: %v", c.explained(err)))
	}
	for _, deployment := range found {
		if replicas, set, _ := unstructured.NestedInt64(deployment.Object, "spec", "replicas"); !set || replicas > 0 {
			warnings = append(warnings, fmt.Sprintf("%s may run the operator: stop it by 'kubectl scale deployment %s -n %s --replicas=0'",
				deploy.RefOf(deployment), deployment.GetName(), deployment.GetNamespace()))
		}
	}
	return warnings
}

// ofName returns the objects of a kind with a name, in a namespace or, if it is empty, in all namespaces.
func (c *connection) ofName(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) ([]*unstructured.Unstructured, error) {
	return c.Port().List(ctx, kind, namespace, deploy.ListOptions{Fields: fields.OneTermEqualSelector("metadata.name", name)})
}

// holderOf returns who holds a Lease, empty if nobody does or if it has run out.
func holderOf(lease *unstructured.Unstructured, now time.Time) string {
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	text, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	renewed, err := time.Parse(time.RFC3339, text)
	if err == nil && now.Sub(renewed) > time.Duration(seconds)*time.Second+clockSkew {
		return ""
	}
	return holder
}
