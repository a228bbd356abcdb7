package explore

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// drawn explores and returns the report with the picture, which is well-formed.
func drawn[C controlling](t *testing.T, controller func() C, start starter[C], opts ...Option) (report, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pictures", "states.svg")
	r := explored(t, controller, start, append(opts, Picture(file))...)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := xml.NewDecoder(strings.NewReader(string(text)))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			require.NoError(t, err)
		}
	}
	return r, string(text)
}

func TestPicture(t *testing.T) {
	t.Run("explore 44: equal states are one, with all ways between them", func(t *testing.T) {
		_, svg := drawn(t, manually(careful), startDriven, States(400))
		assert.Equal(t, 1, strings.Count(svg, ">create Shop.explore.operkit.dev tea</text>"), svg)
		assert.Contains(t, svg, "delete Shop.explore.operkit.dev tea → 1")
		assert.Contains(t, svg, "edit Shop.explore.operkit.dev tea: the edit undone → 2")
		assert.Regexp(t, `also after \d+ disturbances`, svg)
		assert.NotContains(t, svg, "finding 1")
		assert.NotContains(t, svg, "more states")
	})
	t.Run("explore 44: findings are marked where they show", func(t *testing.T) {
		r, svg := drawn(t, manually(troubled), startDriven, States(600), Findings(3))
		require.Len(t, r.findings, 3, stories(r))
		for n, f := range r.findings {
			assert.Contains(t, svg, fmt.Sprintf("finding %d: %s", n+1, f.problem))
		}
	})
	t.Run("explore 44: a large picture shows what leads to findings first, and counts the rest", func(t *testing.T) {
		a := newAtlas()
		a.places = []*node{{from: -1, calm: true, event: "the beginning"}}
		for i := range 200 {
			a.places = append(a.places, &node{from: i / 2, calm: i < 100, event: fmt.Sprint("event ", i)})
		}
		a.places[200].findings = []int{1}
		shown := a.choose()
		assert.Len(t, shown, mostPlaces)
		for at := 200; at >= 0; at = a.places[at].from {
			assert.True(t, shown[at], at)
		}
		assert.True(t, shown[50], "without a disturbance")
		assert.False(t, shown[199], "after a disturbance")
		assert.Contains(t, a.svg([]*finding{{problem: "it fails <again>"}}), "141 more states")
	})
}

// troubled has three faults: it creates a second child after a kill, and doesn't see that a child is gone or changed.
func troubled(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	return cmp.Or(forgetful(ctx, m, resource), blind(ctx, m, resource))
}
