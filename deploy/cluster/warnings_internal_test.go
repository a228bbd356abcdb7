package cluster

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWarningsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	r := newWarnings(slog.New(slog.NewTextHandler(&text, nil)))
	shop := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Shop"}, Name: "a"}
	stall := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Stall"}, Name: "a"}
	for _, row := range []struct {
		reason   string
		ref      deploy.Ref
		warnings []string
		said     int
	}{
		{"none", shop, nil, 0},
		{"the first", shop, []string{"old"}, 1},
		{"the same again", shop, []string{"old"}, 0},
		{"another one beside it", shop, []string{"old", "odd"}, 1},
		{"the same of another kind", stall, []string{"old"}, 1},
	} {
		text.Reset()
		r.log(row.ref, row.warnings)
		assert.Equal(t, row.said, strings.Count(text.String(), "level=WARN"), row.reason)
	}
	for i := range 2 * maxWarnings {
		r.log(shop, []string{fmt.Sprint("of object ", i)})
	}
	assert.Len(t, r.logged, maxWarnings, "texts without end aren't remembered without end")
	text.Reset()
	r.log(shop, []string{"of object 1999"})
	assert.Contains(t, text.String(), "level=WARN", "what isn't remembered is rather said twice than not at all")
}
