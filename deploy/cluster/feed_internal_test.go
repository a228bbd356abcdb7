package cluster

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// However many objects can't be read, what is kept of them and what is said has a bound.
func TestUnreadableObjectsAreBounded(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := &feed{kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, logger: slog.New(slog.NewTextHandler(&said, nil))}
	for n := range 10 * maxUnreadable {
		document := fmt.Appendf(nil, `{"metadata":{"name":"n-%d","namespace":"shop","uid":"u","resourceVersion":"1"},"data":1e999}`, n)
		for range 2 {
			assert.Nil(t, f.read(document))
		}
	}
	assert.Len(t, f.unreadable, maxUnreadable)
	assert.Equal(t, maxUnreadable, strings.Count(said.String(), "\n"), "each once")
	assert.Contains(t, said.String(), "n-7 ", "by its name")
}
