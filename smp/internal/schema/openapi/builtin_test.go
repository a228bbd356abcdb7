package openapi_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/builtin"
	"github.com/operkit/operkit/smp/internal/schema/openapi"
)

// changed are fields without a stable form yet: the release from which the table is made has them
// otherwise than the one from which the documents come.
var changed = []string{"Pod.status.nodeAllocatableResourceClaimStatuses"}

// What an API server says of its own kinds and what the table says must be the same.
func TestBuiltinKindsAgreeWithAnAPIServer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		file   string
		gvk    kschema.GroupVersionKind
		places int // at least; a comparison of nothing would succeed
		merged int
	}{
		{"apps-v1.json", kschema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, 600, 20},
		{"core-v1.json", kschema.GroupVersionKind{Version: "v1", Kind: "Pod"}, 600, 20},
		{"core-v1.json", kschema.GroupVersionKind{Version: "v1", Kind: "Service"}, 80, 4},
	} {
		t.Run("smp 12: "+row.gvk.Kind, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("testdata/" + row.file)
			require.NoError(t, err)
			served, err := openapi.FromDocument(text, row.gvk)
			require.NoError(t, err)

			c := &comparison{seen: map[*schema.Type]bool{}}
			c.compare(row.gvk.Kind, schema.Place{Type: served}, schema.Place{Type: builtin.Type(row.gvk)})

			assert.Empty(t, c.differences)
			assert.GreaterOrEqual(t, c.places, row.places)
			assert.GreaterOrEqual(t, c.merged, row.merged)
		})
	}
}

// comparison walks two types together.
type comparison struct {
	seen           map[*schema.Type]bool
	differences    []string
	places, merged int
}

// compare goes by what is served: a table made from a newer release has fields that aren't.
func (c *comparison) compare(path string, served, table schema.Place) {
	c.places++
	if served.Strategy&schema.Merge != 0 {
		c.merged++
	}
	if served.Strategy != table.Strategy || !slices.Equal(served.Keys, table.Keys) {
		c.differ("%s: served %q %v, table %q %v", path, served.Strategy, served.Keys, table.Strategy, table.Keys)
	}
	switch {
	case served.Type.Shape != table.Type.Shape:
		c.differ("%s: served %s, table %s", path, schema.Expression(served.Type), schema.Expression(table.Type))
		return
	case c.seen[served.Type] && served.Type.Shape == schema.Object:
		return
	}
	c.seen[served.Type] = true
	switch served.Type.Shape {
	case schema.Map, schema.List:
		c.compare(path+"[]", served.Type.Values, table.Type.Values)
	case schema.Object:
		if served.Type.Name != table.Type.Name || served.Type.Open != table.Type.Open {
			c.differ("%s: served %s, table %s", path, served.Type.Name, table.Type.Name)
		}
		for _, name := range slices.Sorted(maps.Keys(served.Type.Fields)) {
			if slices.Contains(changed, path+"."+name) {
				continue
			}
			field, found := table.Type.Fields[name]
			if !found {
				c.differ("%s.%s: not in the table", path, name)
				continue
			}
			c.compare(path+"."+name, served.Type.Fields[name], field)
		}
	}
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}
