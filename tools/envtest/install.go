package envtest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/operkit/operkit/tools/envtest/internal/filelock"
)

// lockName is the lock file in a cluster's folder, so that only one test process at a time changes definitions.
const lockName = "envtest.lock"

// InstallCRDs installs the custom resource definitions of YAML and JSON files, or of the files in folders (without
// subfolders; other kinds are ignored). It returns when their resources are served and the garbage collector knows
// them. A definition that the cluster has already costs almost nothing. A new definition restarts the controller
// manager, which takes about two seconds; otherwise its garbage collector would find the kind only within half a
// minute. Definitions belong to the whole cluster and stay. Tests that install different definitions under the same
// name overwrite each other's definition. Any number of test processes may call InstallCRDs at once.
func (e *Env) InstallCRDs(t testing.TB, paths ...string) {
	t.Helper()
	all, err := readDefinitions(paths)
	if err != nil {
		t.Fatalf("envtest: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), stepTimeout)
	defer cancel()
	if err := e.plane.install(ctx, e.Namespace, all); err != nil {
		t.Fatalf("envtest: %v", err)
	}
}

func (p *plane) install(ctx context.Context, namespace string, all []*definition) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	lock, err := filelock.Acquire(ctx, filepath.Join(p.cluster.Dir(), lockName), nil)
	if err != nil {
		return fmt.Errorf("CRDs: %w", err)
	}
	defer func() { _ = lock.Release() }() // ends with the process anyway
	for _, d := range all {
		if err := p.apply(ctx, d); err != nil {
			return err
		}
	}
	for _, d := range all {
		if err := p.established(ctx, d); err != nil {
			return err
		}
	}
	return p.serve(ctx, namespace, all)
}

// serve waits until controllers can discover the definitions, and makes sure that garbage collection works for their
// kinds.
func (p *plane) serve(ctx context.Context, namespace string, all []*definition) error {
	var kinds []schema.GroupVersionKind
	fresh := false
	for _, d := range all {
		if fresh = fresh || d.fresh; !p.collected[d.id] {
			kinds = append(kinds, d.kinds()...)
		}
	}
	if err := p.discovered(ctx, kinds); err != nil {
		return err
	}
	if err := p.awaitCollector(ctx, namespace, kinds, fresh); err != nil {
		return err
	}
	for _, d := range all {
		p.collected[d.id] = true
	}
	return nil
}

// awaitCollector makes garbage collection work for the kinds. It restarts the controller manager if a definition is new
// or changed (fresh), or if the collector doesn't know a kind.
func (p *plane) awaitCollector(ctx context.Context, namespace string, kinds []schema.GroupVersionKind, fresh bool) error {
	state, err := p.cluster.State()
	if err != nil {
		return err
	}
	if len(kinds) == 0 || !state.Has(devcluster.ControllerManager) {
		return nil // this cluster has no garbage collector
	}
	if !fresh {
		known, err := p.collects(ctx, namespace, kinds, time.Second)
		if err != nil || known {
			return err
		}
	}
	if err := p.cluster.RestartComponent(ctx, devcluster.ControllerManager); err != nil {
		return err
	}
	for {
		known, err := p.collects(ctx, namespace, kinds, 5*time.Second)
		if err != nil || known {
			return err
		}
	}
}

// discovered waits until the kinds are in the document from which controllers discover all resources.
func (p *plane) discovered(ctx context.Context, kinds []schema.GroupVersionKind) error {
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	if len(kinds) == 0 {
		return nil
	}
	return until(ctx, 5*time.Millisecond, func() (bool, error) {
		text, err := p.raw.Get().AbsPath("/apis").SetHeader("Accept", aggregated).DoRaw(ctx)
		if err != nil {
			return false, fmt.Errorf("discovery: %w", err)
		}
		var list groupList
		if err := json.Unmarshal(text, &list); err != nil {
			return false, fmt.Errorf("discovery: %w", err)
		}
		return !slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return !list.has(kind) }), nil
	})
}

// groupList has the fields of an APIGroupDiscoveryList that this package reads.
type groupList struct {
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Versions []struct {
			Version   string `json:"version"`
			Resources []struct {
				ResponseKind schema.GroupVersionKind `json:"responseKind"`
			} `json:"resources"`
		} `json:"versions"`
	} `json:"items"`
}

func (l groupList) has(kind schema.GroupVersionKind) bool {
	for _, group := range l.Items {
		if group.Metadata.Name != kind.Group {
			continue
		}
		for _, version := range group.Versions {
			for _, resource := range version.Resources {
				if version.Version == kind.Version && resource.ResponseKind.Kind == kind.Kind {
					return true
				}
			}
		}
	}
	return false
}
