package explore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// condition is a merge patch of the status with the condition Ready.
const condition = `{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Made","message":"","lastTransitionTime":%q}]}}`

// readyOfStatus returns the status of the condition Ready.
func readyOfStatus(resource *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	if len(conditions) == 0 {
		return ""
	}
	ready, _ := conditions[0].(map[string]any)
	return fmt.Sprint(ready["status"])
}

// serves reports whether a Deployment of one replica is ready.
func serves(live *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	replicas, _, _ := unstructured.NestedInt64(live.Object, "status", "readyReplicas")
	return replicas == 1
}

// scale has one replica of a Deployment.
func (m *manual) scale(ctx context.Context, live *unstructured.Unstructured) error {
	if replicas, _, _ := unstructured.NestedInt64(live.Object, "spec", "replicas"); replicas == 1 {
		return nil
	}
	return m.patch(ctx, live, "", `{"spec":{"replicas":1}}`)
}

// restless counts its reconciles in the status.
func restless(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	count, _, _ := unstructured.NestedInt64(resource.Object, "status", "count")
	if m.sound && count > 0 {
		return nil
	}
	return m.patch(ctx, resource, "status", fmt.Sprintf(`{"status":{"count":%d}}`, count+1))
}

// ticking sets the time of a condition whenever it reports the condition. Its own write brings it back
// as long as a second has gone by: https://github.com/knative/serving/issues/1181
func ticking(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if m.sound && readyOfStatus(resource) == "True" {
		return nil
	}
	return m.patch(ctx, resource, "status", fmt.Sprintf(condition, "True", time.Now().Format(time.RFC3339Nano)))
}

// swallowing looks only at what there is: without a Deployment nothing is unready. It writes its status also when it
// returns an error: https://github.com/arkmq-org/arkmq-org-broker-operator/issues/674
func swallowing(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	live, err := m.get(ctx, "Deployment", "till", resource)
	if err == nil && live == nil {
		if err = m.create(ctx, resource, till); err == nil {
			live, err = m.get(ctx, "Deployment", "till", resource)
		}
	} else if err == nil && m.sound {
		err = m.scale(ctx, live)
	}
	ready := "True"
	if live == nil && m.sound || live != nil && !serves(live) {
		ready = "False"
	}
	if readyOfStatus(resource) == ready {
		return err
	}
	return errors.Join(err, m.patch(ctx, resource, "status", fmt.Sprintf(condition, ready, time.Now().Format(time.RFC3339))))
}

// early is Ready as soon as its Deployment is there: https://github.com/kyma-project/btp-manager/issues/216
func early(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	live, err := m.get(ctx, "Deployment", "till", resource)
	if err != nil {
		return err
	}
	if live == nil {
		err = m.create(ctx, resource, till)
	} else {
		err = m.scale(ctx, live)
	}
	if err != nil {
		return err
	}
	ready := "True"
	if m.sound && !serves(live) {
		ready = "False"
	}
	if readyOfStatus(resource) == ready {
		return nil
	}
	body := fmt.Sprintf(condition, ready, time.Now().Format(time.RFC3339))
	if m.sound { // so that the write of a replica that has lost its lease is refused
		body = fmt.Sprintf(`{"metadata":{"resourceVersion":%q},%s`, resource.GetResourceVersion(), body[1:])
	}
	return m.patch(ctx, resource, "status", body)
}
