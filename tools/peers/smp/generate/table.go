package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp"
)

// table is the whole text: the kinds by group, version and name, then their types by name.
func table() (string, error) {
	kinds, err := kinds()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	blocks := map[string]string{}
	for _, gvk := range slices.SortedFunc(maps.Keys(kinds), compareKinds) {
		described, err := smp.SchemaFromType(kinds[gvk])
		if err != nil {
			return "", fmt.Errorf("%s: %w", gvk, err)
		}
		root, err := addBlocks(blocks, described.Describe())
		if err != nil {
			return "", fmt.Errorf("%s: %w", gvk, err)
		}
		fmt.Fprintf(&text, "kind %s %s %s\n", gvk.GroupVersion(), gvk.Kind, root)
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		text.WriteString("\n" + blocks[name])
	}
	return text.String(), nil
}

// kinds returns the stable kinds of all groups. Types without object metadata (lists, options, watch events) are left
// out, since they can't be patched.
func kinds() (map[schema.GroupVersionKind]reflect.Type, error) {
	scheme := runtime.NewScheme()
	for _, add := range groups {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	kinds := map[schema.GroupVersionKind]reflect.Type{}
	for gvk, t := range scheme.AllKnownTypes() {
		metadata, found := t.FieldByName("ObjectMeta")
		if found && metadata.Type == reflect.TypeFor[metav1.ObjectMeta]() && gvk.Version != runtime.APIVersionInternal {
			kinds[gvk] = t
		}
	}
	return kinds, nil
}

func compareKinds(a, b schema.GroupVersionKind) int {
	return strings.Compare(a.GroupVersion().String()+" "+a.Kind, b.GroupVersion().String()+" "+b.Kind)
}

// addBlocks adds the blocks of a description and returns the name of its first type. A name that
// stands for two different types can't be in the table.
func addBlocks(blocks map[string]string, text string) (root string, err error) {
	for block := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n\n") {
		header, _, _ := strings.Cut(block, "\n")
		name := strings.TrimPrefix(header, "type ")
		if strings.ContainsAny(name, " #") {
			return "", fmt.Errorf("%q: a type of the table is known by its name alone", header)
		}
		if root == "" {
			root = name
		}
		if known, found := blocks[name]; found && known != block+"\n" {
			return "", fmt.Errorf("type %s isn't the same everywhere", name)
		}
		blocks[name] = block + "\n"
	}
	return root, nil
}
