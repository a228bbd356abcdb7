package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// settings is a ConfigMap of somebody else, which the operators read.
var settings = &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: test}, data: {color: red}}")}

// depending returns hand-written operators that depend on an object of others.
func depending() []faulty {
	beside := Harness(reconciletest.Memory(dryrun.Objects(settings)))
	return []faulty{
		{
			fault: "explore 55: what it reads changes unseen", source: "janus-idp/operator#74", style: "by hand",
			operator: besideSettings(unwatching, beside), story: []string{"misses a change of an object of others", "create ConfigMap test/settings", `ConfigMap test/till .data.color: "" -> "red"`},
		},
		{
			fault: "explore 55: what it needs came too late", source: "keycloak#22170", style: "by hand",
			operator: besideSettings(resigned, beside), story: []string{"create ConfigMap test/settings", "ConfigMap test/till isn't there"},
		},
		{
			fault: "explore 55: it can't clean up without it", source: "IBM/cloud-operators#146", style: "by hand",
			operator: besideSettings(forsaking, beside), story: []string{"delete ConfigMap test/settings", "ConfigMap test/till-red is there"},
		},
	}
}

func besideSettings(reconcile func(ctx context.Context, m *manual, resource *unstructured.Unstructured) error, beside Option) operator {
	return driven(func(sound bool) *manual { return newManual(reconcile, sound, "ConfigMap") }, beside)
}

// color returns the color of the settings, empty without them. If they are followed, each change brings the resource.
func (m *manual) color(ctx context.Context, resource *unstructured.Unstructured, follow bool) (string, error) {
	if follow {
		ref := deploy.Ref{Kind: kindOf("ConfigMap"), Namespace: resource.GetNamespace(), Name: "settings"}
		if err := m.env.Watcher.Follow(ctx, deploy.RefOf(resource), ref); err != nil {
			return "", err
		}
	}
	found, err := m.get(ctx, "ConfigMap", "settings", resource)
	if err != nil || found == nil {
		return "", err
	}
	return dataOf(found, "color"), nil
}

// paint gives a child the color.
func (m *manual) paint(ctx context.Context, resource *unstructured.Unstructured, color string) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	switch {
	case err != nil:
		return err
	case till == nil:
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {color: %q}}", color)
	case dataOf(till, "color") != color:
		return m.patch(ctx, till, "", `{"data":{"color":"`+color+`"}}`)
	}
	return nil
}

// unwatching copies the color when it reconciles, but learns of no change:
// https://github.com/janus-idp/operator/issues/74
func unwatching(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	color, err := m.color(ctx, resource, m.sound)
	if err != nil {
		return err
	}
	return m.paint(ctx, resource, color)
}

// resigned takes settings that aren't there for a failure that is final:
// https://github.com/keycloak/keycloak/issues/22170
func resigned(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	if statusOf(resource, "phase") == "Failed" && !m.sound {
		return nil
	}
	color, err := m.color(ctx, resource, true)
	if err != nil {
		return err
	}
	if color == "" {
		return m.status(ctx, resource, "phase", "Failed")
	}
	if err := m.paint(ctx, resource, color); err != nil {
		return err
	}
	return m.status(ctx, resource, "phase", "Ready")
}

// paintedFinalizer holds a resource whose child has no owner.
const paintedFinalizer = "explore.operkit.dev/painted"

// forsaking names its child after the color. When the settings are deleted first, it doesn't find the child any more:
// https://github.com/IBM/cloud-operators/pull/146. Its twin remembers the name in the status, as in
// https://github.com/db-operator/db-operator/issues/452, and owns the child.
func forsaking(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	color, err := m.color(ctx, resource, true)
	if err != nil {
		return err
	}
	present := color
	if m.sound {
		present = statusOf(resource, "color")
	}
	isHeld := slices.Contains(resource.GetFinalizers(), paintedFinalizer)
	switch {
	case resource.GetDeletionTimestamp() != nil && isHeld:
		return m.leave(ctx, resource, present)
	case resource.GetDeletionTimestamp() != nil || color == "":
		return nil
	case !isHeld:
		if err := m.patch(ctx, resource, "", fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, paintedFinalizer)); err != nil {
			return err
		}
	}
	if present := statusOf(resource, "color"); present != color {
		if err := m.wipe(ctx, resource, present); err != nil {
			return err
		}
	}
	if err := m.status(ctx, resource, "color", color); err != nil {
		return err
	}
	child, err := m.get(ctx, "ConfigMap", "till-"+color, resource)
	if err != nil || child != nil {
		return err
	}
	if m.sound { // also one that a former leader creates late belongs to somebody
		return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till-%s}}", color)
	}
	child = &unstructured.Unstructured{Object: object("{apiVersion: v1, kind: ConfigMap, metadata: {name: till-%s, namespace: test}}", color)}
	_, err = m.port.Create(ctx, child, deploy.CreateOptions{FieldManager: "manual"})
	return err
}

// wipe deletes the child of a color, if there is any.
func (m *manual) wipe(ctx context.Context, resource *unstructured.Unstructured, color string) error {
	child, err := m.get(ctx, "ConfigMap", "till-"+color, resource)
	if err != nil || child == nil {
		return err
	}
	return m.delete(ctx, child)
}

// leave deletes the child of a color, and lets the resource go.
func (m *manual) leave(ctx context.Context, resource *unstructured.Unstructured, color string) error {
	if err := m.wipe(ctx, resource, color); err != nil {
		return err
	}
	return m.patch(ctx, resource, "", `{"metadata":{"finalizers":null}}`)
}
