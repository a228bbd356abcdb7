package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp"
)

func TestTheTableIsFresh(t *testing.T) {
	t.Parallel()
	want, err := table()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s isn't what these structs give: run make generate", tableFile)
	}
}

func TestEveryGroupIsThere(t *testing.T) {
	t.Parallel()
	if err := everyGroup(); err != nil {
		t.Error(err)
	}
}

// A user's program that links the structs gets from them what the table says without them.
func TestTypesAgreeWithTheTable(t *testing.T) {
	t.Parallel()
	all, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 70 {
		t.Fatalf("%d kinds are too few", len(all))
	}
	for gvk, goType := range all {
		t.Run("smp 12: "+gvk.String(), func(t *testing.T) {
			t.Parallel()
			fromType, err := smp.SchemaFromType(goType)
			if err != nil {
				t.Fatal(err)
			}
			if fromTable := smp.SchemaFor(gvk); fromTable.Describe() != fromType.Describe() {
				t.Errorf("the table says\n%s\nthe struct says\n%s", fromTable.Describe(), fromType.Describe())
			}
		})
	}
}

// Types of Kubernetes that write their JSON themselves are known by what they say of themselves.
func TestOwnForms(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"v1 ConfigMap metadata.creationTimestamp":                 "scalar", // Time
		"coordination.k8s.io/v1 Lease spec.renewTime":             "scalar", // MicroTime
		"apps/v1 Deployment spec.strategy.rollingUpdate.maxSurge": "scalar", // IntOrString
		"v1 Pod spec.containers.resources.limits":                 "map[string]scalar",
		"v1 Secret data":                               "map[string]scalar",
		"apps/v1 ControllerRevision data":              "any", // RawExtension
		"v1 ConfigMap metadata.managedFields.fieldsV1": "any",
		"apiextensions.k8s.io/v1 CustomResourceDefinition " + properties + "default":                    "any",
		"apiextensions.k8s.io/v1 CustomResourceDefinition " + properties + "items":                      "any", // one schema or several
		"apiextensions.k8s.io/v1 CustomResourceDefinition " + properties + "x-kubernetes-list-map-keys": "[]scalar",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(path)
			gvk := schema.FromAPIVersionAndKind(words[0], words[1])
			field, found := smp.SchemaFor(gvk).Lookup(strings.Split(words[2], ".")...)
			if !found || field.String() != want {
				t.Errorf("got %q, want %q", field, want)
			}
		})
	}
}

const properties = "spec.versions.schema.openAPIV3Schema."

func TestKindsThatCanBePatched(t *testing.T) {
	t.Parallel()
	all, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	for gvk, goType := range all {
		if strings.HasSuffix(gvk.Kind, "List") || gvk.Group == metav1.GroupName {
			t.Errorf("%s: a list or an option", gvk)
		}
		if strings.Contains(gvk.Version, "alpha") || strings.Contains(gvk.Version, "beta") {
			t.Errorf("%s: not stable", gvk)
		}
		if goType.Kind() != reflect.Struct {
			t.Errorf("%s: %s", gvk, goType)
		}
	}
}

func TestAddBlocks(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		texts []string
		says  string
	}{
		"one type twice":             {[]string{"type a.B\n  x scalar\n", "type a.B\n  x scalar\n"}, ""},
		"two types of one name":      {[]string{"type a.B\n  x scalar\n", "type a.B\n  y scalar\n"}, "type a.B isn't the same everywhere"},
		"two of one name in one":     {[]string{"type a.B#2\n"}, `"type a.B#2": a type of the table is known by its name alone`},
		"a type with unknown fields": {[]string{"type a.B open\n"}, `"type a.B open": a type of the table`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocks := map[string]string{}
			var says []string
			for _, text := range row.texts {
				if _, err := addBlocks(blocks, text); err != nil {
					says = append(says, err.Error())
				}
			}
			if row.says == "" && len(says) > 0 || row.says != "" && !slices.ContainsFunc(says, func(said string) bool { return strings.HasPrefix(said, row.says) }) {
				t.Errorf("got %q, want %q", says, row.says)
			}
		})
	}
}
