package webhooks

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/admission/rule"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// definitionOfShops is a CustomResourceDefinition with two versions.
const definitionOfShops = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Shop, listKind: ShopList, plural: shops, singular: shop}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// desk is a Keeper at work in memory.
type desk struct {
	t      *testing.T
	memory *dryrun.Cluster
	record *dryrun.Recording
	keeper *Keeper
	log    bytes.Buffer
	ready  atomic.Bool
	// blind makes discovery fail in part.
	blind atomic.Bool

	mu   sync.Mutex
	errs []error // what done was called with
}

// keep runs a Keeper of a set until the test of t ends. It is for a bubble of synctest.
func keep(t *testing.T, set *Set, target *Target, objects ...*unstructured.Unstructured) *desk {
	t.Helper()
	d := newDesk(t, set, target, objects...)
	d.run()
	return d
}

// newDesk returns a desk whose Keeper doesn't run yet.
func newDesk(t *testing.T, set *Set, target *Target, objects ...*unstructured.Unstructured) *desk {
	t.Helper()
	require.NoError(t, set.Check())
	d := &desk{t: t}
	var err error
	d.memory, err = dryrun.New(dryrun.Objects(objects...))
	require.NoError(t, err)
	owner := Owner{Name: "op", Domain: "operkit.dev"}
	manager, err := deploy.NewManager(dim{d.memory, d}, deploy.FieldManager("op-webhooks"))
	require.NoError(t, err)
	d.keeper = NewKeeper(set, owner, manager, func() (*Target, error) { return target, nil }, slog.New(slog.NewTextHandler(&d.log, nil)))
	d.record = d.memory.Record()
	return d
}

func (d *desk) run() {
	ctx, cancel := context.WithCancel(d.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		assert.NoError(d.t, d.keeper.Run(ctx, func() { d.ready.Store(true) }, func(err error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.errs = append(d.errs, err)
		}))
	})
	d.t.Cleanup(func() { cancel(); running.Wait() })
}

// dim is a cluster whose discovery fails in part while the desk is blind.
type dim struct {
	deploy.Cluster
	desk *desk
}

func (c dim) View() deploy.View { return dimView{c.Cluster.View().(deploy.KindView), c.desk} }

type dimView struct {
	deploy.KindView
	desk *desk
}

func (v dimView) Kinds(ctx context.Context) ([]deploy.ServedKind, error) {
	kinds, err := v.KindView.Kinds(ctx)
	if v.desk.blind.Load() {
		err = errors.New("the group example.com doesn't answer")
	}
	return kinds, err
}

// settle waits until nothing happens any more, also after retries, and returns the last error.
func (d *desk) settle() error {
	d.t.Helper()
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	require.NotEmpty(d.t, d.errs)
	return d.errs[len(d.errs)-1]
}

func (d *desk) get(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	d.t.Helper()
	object, err := d.memory.Port().Get(d.t.Context(), deploy.Ref{Kind: kind, Name: name})
	require.NoError(d.t, err)
	return object
}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	return object
}

// shopSet has a validator and a conversion of shops.
func shopSet() *Set {
	s := &Set{}
	s.Admit(validator(shops))
	s.Convert(shopConversion())
	return s
}

func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestKeeper(t *testing.T) {
	t.Parallel()
	bubble(t, "webhooks 3: what is deleted is written again, and settled nothing is sent", func(t *testing.T) {
		d := keep(t, shopSet(), service("CA"), parse(t, definitionOfShops))
		require.NoError(t, d.settle())
		strategy, _, _ := unstructured.NestedString(d.get(definitionKind, "shops.example.com").Object, "spec", "conversion", "strategy")
		assert.Equal(t, "Webhook", strategy)
		d.record.Take()
		d.keeper.Changed()
		require.NoError(t, d.settle())
		assert.Empty(t, d.record.Take())
		require.NoError(t, d.memory.Port().Delete(t.Context(), deploy.Ref{Kind: validatingKind, Name: "op"}, deploy.DeleteOptions{}))
		require.NoError(t, d.settle())
		assert.NotNil(t, d.get(validatingKind, "op"))
	})
	bubble(t, "webhooks 3: a failure is tried again, and said", func(t *testing.T) {
		d := keep(t, shopSet(), service("CA"))
		require.NoError(t, d.settle())
		d.mu.Lock()
		d.errs = nil
		d.mu.Unlock()
		require.NoError(t, d.memory.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Code: 403}))
		_, err := d.memory.Port().Create(t.Context(), parse(t, definitionOfShops), deploy.CreateOptions{FieldManager: "somebody"})
		require.NoError(t, err)
		assert.Error(t, d.settle())
		d.memory.Heal()
		assert.NoError(t, d.settle())
		assert.Contains(t, d.log.String(), "registering webhooks failed, trying again")
	})
	bubble(t, "webhooks 14: the address that a definition came with is replaced by one of another form", func(t *testing.T) {
		definition := parse(t, definitionOfShops)
		address := []string{"spec", "conversion", "webhook", "clientConfig"}
		require.NoError(t, unstructured.SetNestedField(definition.Object, "https://192.168.0.7:9443", append(address, "url")...))
		set := &Set{}
		set.Convert(shopConversion())
		d := keep(t, set, service("CA"), definition)
		require.NoError(t, d.settle())
		written, _, _ := unstructured.NestedMap(d.get(definitionKind, "shops.example.com").Object, address...)
		assert.Contains(t, written, "service")
		assert.NotContains(t, written, "url")
		assert.NotContains(t, d.log.String(), "trying again")
	})
	bubble(t, "webhooks 4: what an earlier release has written is deleted, and a conversion is said", func(t *testing.T) {
		before := keep(t, shopSet(), service("CA"), parse(t, definitionOfShops))
		require.NoError(t, before.settle())
		now := &Set{}
		now.Convert(shopConversion())
		d := keep(t, now, service("CA"), before.memory.Objects()...)
		require.NoError(t, d.settle())
		assert.Nil(t, d.get(validatingKind, "op"))
		assert.Empty(t, d.get(definitionKind, "shops.example.com").GetDeletionTimestamp())
		last := keep(t, &Set{}, service("CA"), d.memory.Objects()...)
		require.NoError(t, last.settle())
		assert.Contains(t, last.log.String(), "a conversion has no function in this release")
		assert.NotNil(t, last.get(definitionKind, "shops.example.com"))
	})
	bubble(t, "webhooks 10: a process that isn't reached leaves what others have written", func(t *testing.T) {
		before := keep(t, shopSet(), service("CA"), parse(t, definitionOfShops))
		require.NoError(t, before.settle())
		d := keep(t, shopSet(), nil, before.memory.Objects()...)
		require.NoError(t, d.settle())
		assert.NotNil(t, d.get(validatingKind, "op"))
	})
	bubble(t, "webhooks 11: the rest follows when a definition is applied", func(t *testing.T) {
		d := keep(t, shopSet(), service("CA"))
		require.NoError(t, d.settle())
		assert.Nil(t, d.get(validatingKind, "op"))
		assert.Contains(t, d.log.String(), "kinds=Shop.example.com")
		_, err := d.memory.Port().Create(t.Context(), parse(t, definitionOfShops), deploy.CreateOptions{FieldManager: "somebody"})
		require.NoError(t, err)
		require.NoError(t, d.settle())
		assert.NotNil(t, d.get(validatingKind, "op"))
		strategy, _, _ := unstructured.NestedString(d.get(definitionKind, "shops.example.com").Object, "spec", "conversion", "strategy")
		assert.Equal(t, "Webhook", strategy)
	})
	bubble(t, "webhooks 11: a definition that is deleted and applied again has its conversion again", func(t *testing.T) {
		d := keep(t, shopSet(), service("CA"), parse(t, definitionOfShops))
		require.NoError(t, d.settle())
		definition := deploy.Ref{Kind: definitionKind, Name: "shops.example.com"}
		require.NoError(t, d.memory.Port().Delete(t.Context(), definition, deploy.DeleteOptions{}))
		require.NoError(t, d.settle())
		assert.Contains(t, d.log.String(), "kinds=shops.example.com")
		_, err := d.memory.Port().Create(t.Context(), parse(t, definitionOfShops), deploy.CreateOptions{FieldManager: "somebody"})
		require.NoError(t, err)
		require.NoError(t, d.settle())
		strategy, _, _ := unstructured.NestedString(d.get(definitionKind, "shops.example.com").Object, "spec", "conversion", "strategy")
		assert.Equal(t, "Webhook", strategy)
	})
	bubble(t, "webhooks 3: controllers start when there are the conversions, whatever else fails", func(t *testing.T) {
		set := shopSet()
		d := newDesk(t, set, service("CA"), parse(t, definitionOfShops))
		require.NoError(t, d.memory.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: validatingKind, Code: 403}))
		d.run()
		assert.Error(t, d.settle())
		assert.True(t, d.ready.Load())
		other := newDesk(t, set, service("CA"), parse(t, definitionOfShops))
		require.NoError(t, other.memory.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Kind: definitionKind, Code: 403}))
		other.run()
		assert.Error(t, other.settle())
		assert.False(t, other.ready.Load())
	})
	bubble(t, "webhooks 11: as long as discovery fails nothing is left out, and nothing deleted", func(t *testing.T) {
		before := keep(t, shopSet(), service("CA"), parse(t, definitionOfShops))
		require.NoError(t, before.settle())
		d := newDesk(t, shopSet(), service("CA"))
		_, err := d.memory.Port().Create(t.Context(), bare(before.get(validatingKind, "op")), deploy.CreateOptions{FieldManager: "before"})
		require.NoError(t, err)
		d.blind.Store(true)
		d.run()
		assert.ErrorContains(t, d.settle(), "it isn't known whether Shop.example.com are served")
		assert.False(t, d.ready.Load())
		assert.NotNil(t, d.get(validatingKind, "op"))
		d.blind.Store(false)
		require.NoError(t, d.settle())
		assert.True(t, d.ready.Load())
	})
	bubble(t, "webhooks 4: an operator that has policies only deletes webhooks of an earlier release", func(t *testing.T) {
		before := keep(t, shopSet(), service("CA"), parse(t, definitionOfShops))
		require.NoError(t, before.settle())
		set := &Set{}
		set.Enforce(rule.Set{{CEL: "true", Message: "any"}}, rule.Policy{Name: "any", Kind: shops, Resource: "shops"})
		d := keep(t, set, nil, before.memory.Objects()...)
		require.NoError(t, d.settle())
		assert.Nil(t, d.get(validatingKind, "op"))
		assert.NotNil(t, d.get(policyKind, "any"))
	})
}

// bare returns an object without what the cluster has set.
func bare(object *unstructured.Unstructured) *unstructured.Unstructured {
	next := object.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields", "generation"} {
		unstructured.RemoveNestedField(next.Object, "metadata", field)
	}
	return next
}
