package explore

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// disturbedTwice returns hand-written operators whose faults need two disturbances.
func disturbedTwice() []faulty {
	return []faulty{
		{
			fault: "explore 25: it gives up after a crash", source: "a beginner's mistake", style: "by hand",
			operator: byHand(presuming), story: []string{"answers 500: get ConfigMap test/till", `.status.till: "created" -> "unknown"`},
		},
	}
}

// presuming notes what it is about to create. If it can't find out whether an earlier attempt has created that, it
// gives up for good.
func presuming(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	phase := statusOf(resource, "till")
	switch phase {
	case "unknown":
		return nil
	case "":
		if err := m.status(ctx, resource, "till", "creating"); err != nil {
			return err
		}
	default:
		till, err := m.get(ctx, "ConfigMap", "till", resource)
		switch {
		case err != nil && phase == "creating" && !m.sound:
			return m.status(ctx, resource, "till", "unknown")
		case err != nil:
			return err
		case till != nil:
			return m.status(ctx, resource, "till", "created")
		}
	}
	if err := m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}}"); err != nil {
		return err
	}
	return m.status(ctx, resource, "till", "created")
}
