package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// readingLate returns hand-written operators whose faults need a watch that falls behind.
func readingLate() []faulty {
	return []faulty{
		{
			fault: "explore 12: an old spec counts as the new one", source: "clowder#1760", style: "by hand",
			operator: byHand(misdating), story: []string{"the watch of the resource falls behind", `ConfigMap test/till .metadata.labels.size: "2" -> "1"`},
		},
		{
			fault: "explore 12: what is ready late stays failed", source: "zookeeper-operator#496", style: "by hand",
			operator: byHand(impatient, "Deployment"), story: []string{"the watches of other objects fall behind", "Shop.explore.operkit.dev test/tea .status.phase"},
		},
		{
			fault: "explore 12: a disk that goes late holds all up", source: "tigera/operator#4209", style: "by hand",
			operator: byHand(patient), story: []string{"the watches of other objects fall behind", "delete ConfigMap test/set", "Shop.explore.operkit.dev test/tea is there"},
		},
	}
}

// cached returns an object as the watches of the operator show it, nil if there is none.
func (m *manual) cached(ctx context.Context, kind, name string, resource *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return m.env.Manager.View().Get(ctx, deploy.Ref{Kind: kindOf(kind), Namespace: resource.GetNamespace(), Name: name})
}

// misdating takes the size from its cache, but records that it is the one of the present spec:
// https://github.com/RedHatInsights/clowder/pull/1760
func misdating(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	size, present := sizeOf(resource), fmt.Sprintf("spec-%d", sizeOf(resource))
	if !m.sound {
		cached, err := m.env.Manager.View().Get(ctx, deploy.RefOf(resource))
		if err != nil || cached == nil {
			return err
		}
		size = sizeOf(cached)
	}
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	switch {
	case err != nil:
		return err
	case till == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till, labels: {size: '%d', of: %q}}}", size, present)
	case till.GetLabels()["of"] == present:
		return nil
	}
	return m.patch(ctx, till, "", fmt.Sprintf(`{"metadata":{"labels":{"size":"%d","of":%q}}}`, size, present))
}

// impatient fails for good when it has found five times that its Deployment isn't ready:
// https://github.com/pravega/zookeeper-operator/pull/496
func impatient(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if !m.sound && statusOf(resource, "phase") == "Failed" {
		return nil
	}
	live, err := m.cached(ctx, "Deployment", "till", resource)
	if err != nil {
		return err
	}
	if live == nil {
		return m.create(ctx, resource, till)
	}
	if replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas"); replicas != 1 {
		return m.patch(ctx, live, "", `{"spec":{"replicas":1}}`)
	}
	if serves(live) {
		m.kept["tries"] = ""
		return m.status(ctx, resource, "phase", "Ready")
	}
	if m.kept["tries"] += "x"; len(m.kept["tries"]) > 5 {
		return m.status(ctx, resource, "phase", "Failed")
	}
	return errors.New("the Deployment isn't ready yet")
}

// patient deletes its set, and waits until the cluster has deleted the disk that the set owns. It watches no disks, and
// doesn't look again: https://github.com/tigera/operator/pull/4209. A ConfigMap and a Secret stand for both.
func patient(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	m.again = 10 * time.Minute
	set, err := m.cached(ctx, "ConfigMap", "set", resource)
	if err != nil {
		return err
	}
	if resource.GetDeletionTimestamp() == nil {
		return m.hold(ctx, resource, set)
	}
	if set != nil {
		if err := m.delete(ctx, set); err != nil {
			return err
		}
	}
	disks, err := m.env.Manager.View().List(ctx, kindOf("Secret"), resource.GetNamespace(), nil)
	if err != nil || len(disks) > 0 {
		if !m.sound {
			m.again = 0
		}
		return err
	}
	return m.patch(ctx, resource, "", `{"metadata":{"finalizers":null}}`)
}

// hold creates a set with a disk, for a resource that has to be finalized.
func (m *manual) hold(ctx context.Context, resource, set *unstructured.Unstructured) (err error) {
	if len(resource.GetFinalizers()) == 0 {
		if err := m.patch(ctx, resource, "", `{"metadata":{"finalizers":["explore.operkit.dev/set"]}}`); err != nil {
			return err
		}
	}
	if set == nil {
		if err = m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: set}}"); err == nil {
			set, err = m.cached(ctx, "ConfigMap", "set", resource)
		}
	}
	if err != nil || set == nil {
		return err
	}
	disks, err := m.env.Manager.View().List(ctx, kindOf("Secret"), resource.GetNamespace(), nil)
	if err != nil || len(disks) > 0 {
		return err
	}
	name := "generateName: disk-" // so that nobody else deletes it
	if m.sound {
		name = "name: disk" // so that the late write of another replica adds none
	}
	return m.create(ctx, set, "{apiVersion: v1, kind: Secret, metadata: {%s}}", name)
}
