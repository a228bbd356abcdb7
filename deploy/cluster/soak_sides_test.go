package cluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const basketsFile = "testdata/soak/baskets.yaml"

// side is one of the two clusters that the same history happens to.
type side struct {
	name string
	// process starts what our Managers work on anew, and returns how it ends.
	process func() (deploy.Cluster, func())
	// others is the way of everybody else, on which nothing goes wrong.
	others deploy.Port
	// meet has requests of our process fail.
	meet func(*trouble) error

	view     deploy.View
	end      func()
	managers map[string]*deploy.Manager
}

// soakManagers are the names of our Managers: the first owns fields only, the others objects too.
var soakManagers = []string{"alpha", "beta", "gamma"}

// restart is the end of our process and the beginning of a new one, which remembers nothing.
func (s *side) restart(owners []*unstructured.Unstructured) {
	s.end()
	c, end := s.process()
	s.view, s.end = c.View(), end
	s.managers = map[string]*deploy.Manager{}
	for i, name := range soakManagers {
		options := []deploy.Option{deploy.FieldManager(name), deploy.Concurrency(1), deploy.Immutable(basket.GroupKind(), ".spec.title")}
		if i > 0 {
			options = append(options, deploy.OwnedBy(owners[i-1]))
		}
		s.managers[name] = must(deploy.NewManager(c, options...))
	}
}

// contents are the objects of a kind once our process has seen what everybody did to them.
func (s *side) contents(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	stored, err := s.others.List(ctx, kind, namespace, deploy.ListOptions{})
	if err != nil {
		return nil, err
	}
	for {
		seen, err := s.view.List(ctx, kind, namespace, nil)
		if err != nil {
			return nil, err
		}
		if sameVersions(stored, seen) {
			return stored, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: the View of %s doesn't come to what is stored: %w", s.name, kind.Kind, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}

func sameVersions(stored, seen []*unstructured.Unstructured) bool {
	versions := map[string]string{}
	for _, obj := range stored {
		versions[obj.GetName()] = string(obj.GetUID()) + obj.GetResourceVersion()
	}
	for _, obj := range seen {
		if versions[obj.GetName()] != string(obj.GetUID())+obj.GetResourceVersion() {
			return false
		}
	}
	return len(stored) == len(seen)
}

// newServer is the side of a real API server.
func newServer(t *testing.T, env *envtest.Env) *side {
	var met troubles
	config := rest.CopyConfig(env.Config)
	config.Wrap(met.wrap)
	return &side{
		name:   "API server",
		others: newCluster(t, env.Admin).Port(),
		meet: func(next *trouble) error {
			met.meet(next)
			return nil
		},
		end: func() {},
		process: func() (deploy.Cluster, func()) {
			c, end := endingCluster(t, config, cluster.Namespaces(env.Namespace))
			watch(t, c, soakKinds...)
			return c, end
		},
	}
}

// newMemory is the side in memory, with the owners as the server has made them: their uids are part of
// what depends on them.
func newMemory(t *testing.T, namespace string, owners []*unstructured.Unstructured) *side {
	t.Helper()
	text, err := os.ReadFile(basketsFile)
	require.NoError(t, err)
	definition := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &definition.Object))
	seeds := append([]*unstructured.Unstructured{definition}, owners...)
	memory, err := dryrun.New(dryrun.Namespaces(namespace), dryrun.Objects(seeds...))
	require.NoError(t, err)
	return &side{
		name:   "memory",
		others: memory.Port(),
		meet: func(next *trouble) error {
			memory.Heal()
			if next == nil {
				return nil
			}
			return memory.Fail(next.fault())
		},
		end:     func() {},
		process: func() (deploy.Cluster, func()) { return memory, func() {} },
	}
}
