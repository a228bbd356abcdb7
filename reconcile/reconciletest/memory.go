package reconciletest

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (h *Harness) newMemory() (*dryrun.Cluster, error) {
	definitions, err := readDefinitions(h.options.definitions)
	if err != nil {
		return nil, err
	}
	memory := []dryrun.Option{dryrun.Objects(definitions...), dryrun.Admit(h.simulator.admit)}
	if len(definitions) == 0 {
		memory = append(memory, dryrun.AnyKind())
	} else {
		memory = append(memory, dryrun.Namespaces(h.options.namespace))
	}
	memory = append(memory, h.options.memory...)
	conversions, err := h.conversions()
	if err != nil {
		return nil, err
	}
	memory = append(memory, dryrun.Conversions(conversions...))
	if len(h.options.admission) > 0 {
		h.webhooks = &webhooks{conversions: conversions}
		if h.webhooks.mutating, h.webhooks.validating, err = h.readWebhooks(); err != nil {
			return nil, err
		}
		memory = append(memory, dryrun.Ask(h.webhooks))
	}
	cluster, err := dryrun.New(append(memory, dryrun.Clock(h.clock.now))...)
	if h.webhooks != nil {
		h.webhooks.memory = cluster
	}
	return cluster, err
}

// readDefinitions reads the CustomResourceDefinitions of files and folders.
func readDefinitions(paths []string) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, path := range paths {
		objects, err := readManifests(path)
		if err != nil {
			return nil, err
		}
		before := len(found)
		for _, obj := range objects {
			if obj.GetKind() == "CustomResourceDefinition" {
				found = append(found, obj)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("%s: %w", path, errors.New("holds no CustomResourceDefinition"))
		}
	}
	return found, nil
}

// seeing is the cluster in memory, whose writes become events at once: so each of them is an event of its own.
type seeing struct {
	deploy.Cluster
	*Harness
}

// Port implements deploy.Cluster.
func (s seeing) Port() deploy.Port { return seeingPort{s.Cluster.Port(), s.Harness} }

type seeingPort struct {
	deploy.Port
	harness *Harness
}

// Create implements deploy.Port.
func (p seeingPort) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	after, err := p.Port.Create(ctx, obj, options)
	if err == nil {
		p.harness.events.capture(deploy.RefOf(after)) // the name may be generated
	}
	return after, err
}

// Update implements deploy.Port.
func (p seeingPort) Update(ctx context.Context, obj *unstructured.Unstructured, options deploy.UpdateOptions) (*unstructured.Unstructured, error) {
	after, err := p.Port.Update(ctx, obj, options)
	p.harness.events.capture(deploy.RefOf(obj))
	return after, err
}

// Apply implements deploy.Port.
func (p seeingPort) Apply(ctx context.Context, obj *unstructured.Unstructured, options deploy.ApplyOptions) (deploy.Applied, error) {
	applied, err := p.Port.Apply(ctx, obj, options)
	p.harness.events.capture(deploy.RefOf(obj))
	return applied, err
}

// Patch implements deploy.Port.
func (p seeingPort) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	after, err := p.Port.Patch(ctx, ref, patch)
	p.harness.events.capture(ref)
	return after, err
}

// Delete implements deploy.Port.
func (p seeingPort) Delete(ctx context.Context, ref deploy.Ref, options deploy.DeleteOptions) error {
	err := p.Port.Delete(ctx, ref, options)
	p.harness.events.capture(ref)
	return err
}
