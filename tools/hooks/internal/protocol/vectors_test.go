package protocol_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/protocol"
)

// vector is a request that was sent to a hook of metacontroller's examples, and its response.
type vector struct {
	Name  string `json:"name"`
	Input struct {
		Path    string         `json:"path"`
		Request map[string]any `json:"request"`
	} `json:"input"`
	Output struct {
		Response   map[string]any `json:"response"`
		NoResponse bool           `json:"no_response"`
	} `json:"output"`
	Rule string `json:"rule"`
}

// The requests are encoded as they were sent, and the responses are read without a loss.
func TestVectors(t *testing.T) {
	t.Parallel()
	const family = "metacontroller-hooks"
	content, err := os.ReadFile(filepath.Join(cmp.Or(os.Getenv("OPERKIT_VECTORS"), "testdata/vectors"), family+".json"))
	require.NoError(t, err)
	var file struct {
		Cases []vector `json:"cases"`
	}
	require.NoError(t, json.Unmarshal(content, &file))
	require.NotEmpty(t, file.Cases)
	passed, failed, deviating := 0, 0, 0
	for _, c := range file.Cases {
		deviates := ""
		switch ok := t.Run(c.Name, func(t *testing.T) { deviates = c.run(t) }); {
		case !ok:
			failed++
		case deviates != "":
			deviating++
		default:
			passed++
		}
	}
	t.Logf("VECTORS %s passed=%d failed=%d deviating=%d", family, passed, failed, deviating)
}

// run runs a case, and returns the rule by which a better system deviates from it.
func (c vector) run(t *testing.T) (rule string) {
	t.Helper()
	style, parentField, childrenField := definition.Composite, "parent", "children"
	if _, ok := c.Input.Request["attachments"]; ok {
		style, parentField, childrenField = definition.Decorator, "object", "attachments"
	}
	controller, parent := object(c.Input.Request["controller"]), object(c.Input.Request[parentField])
	if parent == nil {
		assert.True(t, c.Output.NoResponse, "a request that is never made")
		return c.Rule
	}
	if c.Input.Path == "/customize" {
		sent, err := protocol.EncodeCustomize(controller, parent)
		require.NoError(t, err)
		assertJSON(t, c.Input.Request, sent)
		rules, err := protocol.DecodeCustomize(encoded(t, c.Output.Response), true)
		require.NoError(t, err)
		assert.Len(t, rules, len(c.Output.Response["relatedResources"].([]any)))
		return c.Rule
	}
	finalizing, _ := c.Input.Request["finalizing"].(bool)
	sent, err := protocol.Request{
		Controller: controller, Parent: parent, Children: groups(t, c.Input.Request[childrenField]),
		Related: groups(t, c.Input.Request["related"]), Finalizing: finalizing,
	}.Encode(style, c.version())
	require.NoError(t, err)
	assertJSON(t, c.Input.Request, sent)
	if c.Output.NoResponse {
		return c.Rule
	}
	answer, err := protocol.DecodeAnswer(encoded(t, c.Output.Response), style, true)
	require.NoError(t, err)
	children := []any{}
	for _, child := range answer.Children {
		children = append(children, child.Object)
	}
	if want := c.Output.Response[childrenField]; want != nil {
		assertJSON(t, want, encoded(t, children))
	}
	assertJSON(t, c.Output.Response["status"], encoded(t, answer.Status))
	assert.Equal(t, c.Output.Response["finalized"] == true, answer.Finalized)
	return c.Rule
}

func (c vector) version() definition.Version {
	if len(c.Name) > 3 && c.Name[:3] == "v2-" {
		return definition.V2
	}
	return definition.V1
}

func object(value any) *unstructured.Unstructured {
	content, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	return &unstructured.Unstructured{Object: content}
}

// groups reads the objects of a request by kind and name. Some requests were recorded with other keys than a controller
// uses: groups puts the names in their place.
func groups(t *testing.T, value any) (all []protocol.Group) {
	t.Helper()
	byKind, _ := value.(map[string]any)
	for key, byName := range byKind {
		kind, apiVersion, _ := strings.Cut(key, ".")
		version, err := schema.ParseGroupVersion(apiVersion)
		require.NoError(t, err)
		group := protocol.Group{Kind: version.WithKind(kind)}
		objects := byName.(map[string]any)
		for key, one := range maps.Clone(objects) {
			obj := object(one)
			group.Objects = append(group.Objects, obj)
			delete(objects, key)
			objects[key[:strings.LastIndex(key, "/")+1]+obj.GetName()] = one
		}
		all = append(all, group)
	}
	return all
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

func assertJSON(t *testing.T, want any, got []byte) {
	t.Helper()
	assert.JSONEq(t, string(encoded(t, want)), string(got))
}
