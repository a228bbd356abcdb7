package cluster_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	basket = schema.GroupVersionKind{Group: "soak.operkit.dev", Version: "v1", Kind: "Basket"}

	// soakKinds are what a soak works on; of those that servers give defaults only what our managers own
	// is compared.
	soakKinds    = []schema.GroupVersionKind{configMap, basket, deployment, service}
	withDefaults = map[schema.GroupVersionKind]bool{deployment: true, service: true}
	soakNames    = map[schema.GroupVersionKind][]string{
		configMap: {"a", "b", "c", "d"}, basket: {"a", "b", "c", "d"}, deployment: {"a", "b"}, service: {"a", "b"},
	}
)

const soakFinalizer = "soak.operkit.dev/hold"

// dice draw objects and everything else of a history, always the same from one seed.
type dice struct {
	*rand.Rand
	namespace string
	// owners are the objects that own others. They are never deleted.
	owners []*unstructured.Unstructured
	// lately are the last sets of objects that were drawn.
	lately [][]*unstructured.Unstructured
}

// chance is true so often in a hundred times.
func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d *dice, from ...T) T { return from[d.IntN(len(from))] }

// some draws each of several values with even chances.
func some[T any](d *dice, from ...T) []T {
	var drawn []T
	for _, item := range from {
		if d.chance(50) {
			drawn = append(drawn, item)
		}
	}
	return drawn
}

func (d *dice) value() any { return pick[any](d, "1", "2", "3") }

// fields draws a map of some of the keys.
func (d *dice) fields(keys ...string) map[string]any {
	drawn := map[string]any{}
	for _, key := range some(d, keys...) {
		drawn[key] = d.value()
	}
	return drawn
}

// kind draws a kind, rather one of those that are compared as a whole.
func (d *dice) kind() schema.GroupVersionKind {
	return pick(d, configMap, configMap, basket, basket, basket, deployment, service)
}

// named is an empty object of a kind that the history knows.
func (d *dice) named(kind schema.GroupVersionKind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(d.namespace)
	obj.SetName(pick(d, soakNames[kind]...))
	return obj
}

// object draws one with content.
func (d *dice) object(kind schema.GroupVersionKind) *unstructured.Unstructured {
	obj := d.named(kind)
	metadata := obj.Object["metadata"].(map[string]any)
	if d.chance(50) {
		metadata["labels"] = d.fields("one", "two")
	}
	if d.chance(40) {
		metadata["annotations"] = d.fields("one", "two")
	}
	if d.chance(8) {
		metadata["finalizers"] = []any{soakFinalizer}
	}
	switch kind {
	case configMap:
		obj.Object["data"] = d.fields("a", "b", "c", "d")
	case basket:
		obj.Object["spec"] = d.basket()
	case deployment:
		obj.Object["spec"] = d.deployment()
	case service:
		obj.Object["spec"] = d.service()
	}
	return obj
}

// basket draws some fields of a Basket's spec.
func (d *dice) basket() map[string]any {
	draw := map[string]func() any{
		"size":   func() any { return int64(d.IntN(3)) },
		"title":  func() any { return pick(d, "", "x", "y") },
		"amount": func() any { return pick[any](d, int64(1), "1", "50%") },
		"tags":   func() any { return listOf(some(d, "x", "y", "z")) },
		"steps":  func() any { return listOf(some(d, "x", "y")) },
		"items":  func() any { return d.items() },
		"rules":  func() any { return d.rules() },
		"limits": func() any { return d.fields("cpu", "memory") },
		"frozen": func() any { return d.fields("a", "b") },
		"free":   func() any { return map[string]any{"x": d.fields("p", "q"), "y": listOf(some(d, "1", "2"))} },
	}
	spec := map[string]any{}
	for _, field := range some(d, slices.Sorted(maps.Keys(draw))...) {
		spec[field] = draw[field]()
	}
	return spec
}

func (d *dice) items() []any {
	items := []any{}
	for _, name := range some(d, "n1", "n2", "n3") {
		item := map[string]any{"name": name}
		if d.chance(50) {
			item["count"] = int64(d.IntN(3))
		}
		if d.chance(50) {
			item["note"] = d.value()
		}
		if d.chance(40) {
			item["places"] = d.places()
		}
		items = append(items, item)
	}
	if d.chance(30) {
		d.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	return items
}

func (d *dice) places() []any {
	places := []any{}
	for _, port := range some(d, int64(1), int64(2)) {
		place := map[string]any{"host": pick(d, "h", "i"), "port": port}
		if d.chance(50) {
			place["kept"] = d.chance(50)
		}
		places = append(places, place)
	}
	return places
}

func (d *dice) rules() map[string]any {
	rules := map[string]any{}
	for _, name := range some(d, "one", "two", "three") {
		rules[name] = d.fields("to", "from")
	}
	return rules
}

// replicas draws how many, but never what a server takes when nobody says it: then it couldn't be told
// whether somebody did. The same goes for the targets of ports.
func (d *dice) replicas() any { return pick[any](d, int64(0), int64(2), int64(3)) }

// deployment draws one of which a server accepts all fields, and fills none that is drawn.
func (d *dice) deployment() map[string]any {
	container := map[string]any{
		"name": "web", "image": fmt.Sprintf("example.invalid/web:%d", d.IntN(3)),
		"env":   d.environment(),
		"ports": []any{map[string]any{"name": "http", "containerPort": int64(80), "protocol": "TCP"}},
	}
	if d.chance(50) {
		container["args"] = listOf(some(d, "x", "y"))
	}
	containers := []any{container}
	if d.chance(30) {
		containers = append(containers, map[string]any{"name": "sidecar", "image": "example.invalid/sidecar:1"})
	}
	return map[string]any{
		"replicas": d.replicas(),
		"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "web", "tier": d.value()}},
			"spec":     map[string]any{"containers": containers},
		},
	}
}

func (d *dice) environment() []any {
	env := []any{}
	for _, name := range some(d, "A", "B") {
		env = append(env, map[string]any{"name": name, "value": d.value()})
	}
	return env
}

func (d *dice) service() map[string]any {
	ports := []any{}
	for _, name := range append([]string{"http"}, some(d, "dns", "admin")...) {
		ports = append(ports, d.port(name))
	}
	return map[string]any{"selector": map[string]any{"app": "web", "tier": d.value()}, "ports": ports}
}

// port draws one. Names are of one number and protocol: two ports of one name are refused.
func (d *dice) port(name string) any {
	number, protocol := map[string]int64{"http": 80, "dns": 53, "admin": 8080}[name], pick(d, "TCP", "TCP", "UDP")
	return map[string]any{
		"name": name + "-" + strings.ToLower(protocol), "port": number, "protocol": protocol, "targetPort": pick[any](d, number+1, name),
	}
}

func listOf[T any](items []T) []any {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return list
}
