package protocol_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/protocol"
)

const pod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}`

func TestAnswer(t *testing.T) {
	t.Parallel()
	body := `{"status": {"replicas": 3}, "children": [` + pod + `], "resyncAfterSeconds": 1.5, "finalized": true}`
	answer, err := protocol.DecodeAnswer([]byte(body), definition.Composite, true)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"replicas": int64(3)}, answer.Status, "whole numbers stay whole")
	assert.Equal(t, "a", answer.Children[0].GetName())
	assert.Equal(t, 1500*time.Millisecond, answer.ResyncAfter)
	assert.True(t, answer.Finalized)

	body = `{"labels": {"a": "b", "gone": null}, "annotations": {"c": "d"}, "attachments": [` + pod + `]}`
	answer, err = protocol.DecodeAnswer([]byte(body), definition.Decorator, true)
	require.NoError(t, err)
	assert.Equal(t, "b", *answer.Labels["a"])
	assert.Contains(t, answer.Labels, "gone")
	assert.Nil(t, answer.Labels["gone"])
	assert.Equal(t, "d", *answer.Annotations["c"])
	assert.Nil(t, answer.Status, "none was returned")
	assert.Len(t, answer.Children, 1)

	for reason, body := range map[string]string{
		"nothing": `{}`, "null for each field": `{"status": null, "children": null, "resyncAfterSeconds": null, "finalized": null}`,
		"a time that has passed": `{"resyncAfterSeconds": -1}`,
	} {
		answer, err = protocol.DecodeAnswer([]byte(body), definition.Composite, true)
		require.NoError(t, err, reason)
		assert.Equal(t, protocol.Answer{}, answer, reason)
	}
}

func TestAnswerIsRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason, body string
		want         string
	}{
		{"nothing at all", "", "isn't JSON"},
		{"a page", "<html>", "isn't JSON"},
		{"half of a response", `{"children": [`, "isn't JSON"},
		{"something after it", `{} {}`, "isn't JSON"},
		{"a list", `[]`, "must be a JSON object, not a list"},
		{"null", `null`, "must be a JSON object, not null"},
		{"too deep", `{"status": ` + strings.Repeat(`[`, 501) + strings.Repeat(`]`, 501) + `}`, "nested more than 500 levels deep"},
		{"a status that is a word", `{"status": "fine"}`, "status: must be an object"},
		{"a child that isn't in a list", `{"children": ` + pod + `}`, "children: must be a list of objects"},
		{"a child that is none", `{"children": [` + pod + `, null]}`, "children[1]: must be an object"},
		{"a child without a kind", `{"children": [{"apiVersion": "v1", "metadata": {"name": "a"}}]}`, "children[0].kind: must be a string that isn't empty"},
		{"a child without a name", `{"children": [{"apiVersion": "v1", "kind": "Pod"}]}`, "children[0].metadata.name: must be a string that isn't empty"},
		{"a name that is a number", `{"children": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 1}}]}`, "children[0].metadata.name: must be"},
		{"a name that is too long", `{"children": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "` + strings.Repeat("a", 254) + `"}}]}`, "children[0].metadata.name: must be"},
		{"a kind of two lines", `{"children": [{"apiVersion": "v1", "kind": "Pod\n", "metadata": {"name": "a"}}]}`, "children[0].kind: must be"},
		{"a namespace of two lines", `{"children": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "\r"}}]}`, "children[0].metadata.namespace: must be"},
		{"a label that is a number", `{"children": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"a": 1}}}]}`, "children[0].metadata.labels: must be an object of strings"},
		{"a namespace that is none", `{"children": [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": {}}}]}`, "children[0].metadata.namespace: must be a string"},
		{"a time that is a text", `{"resyncAfterSeconds": "10s"}`, "resyncAfterSeconds: must be a number"},
		{"a time of centuries", `{"resyncAfterSeconds": 1e300}`, "resyncAfterSeconds: 1e+300 seconds are too long"},
		{"finalized as a text", `{"finalized": "yes"}`, "finalized: must be true or false"},
		{"a field that is spelled wrongly", `{"childs": []}`, "childs: unknown field"},
		{"a field of the other style", `{"attachments": []}`, "attachments: unknown field"},
		{"a field twice", `{"status": {}, "status": {}}`, `duplicate field "status"`},
	} {
		t.Run("hooks 2: "+row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := protocol.DecodeAnswer([]byte(row.body), definition.Composite, true)
			assert.ErrorContains(t, err, row.want)
		})
	}
	t.Run("hooks 2: a loose response may have fields that nobody knows", func(t *testing.T) {
		t.Parallel()
		_, err := protocol.DecodeAnswer([]byte(`{"childs": [], "status": {}, "status": {"a": 1}}`), definition.Composite, false)
		assert.NoError(t, err)
	})
	t.Run("hooks 2: an error names ten mistakes, and says how many there are", func(t *testing.T) {
		t.Parallel()
		_, err := protocol.DecodeAnswer([]byte(`{"children": [`+strings.Repeat("0,", 99)+`0]}`), definition.Composite, true)
		assert.ErrorContains(t, err, "children[0]: must be an object; ")
		assert.ErrorContains(t, err, "and 90 more")
	})
	t.Run("hooks 2: labels of a decorator", func(t *testing.T) {
		t.Parallel()
		_, err := protocol.DecodeAnswer([]byte(`{"labels": {"a": 1}, "annotations": []}`), definition.Decorator, true)
		assert.EqualError(t, err, "response: annotations: must be an object; labels[a]: must be a string, or null to remove it")
	})
}

func TestCustomize(t *testing.T) {
	t.Parallel()
	rules, err := protocol.DecodeCustomize([]byte(`{"relatedResources": [
		{"apiVersion": "v1", "resource": "configmaps", "namespace": "src", "names": ["cfg"]},
		{"apiVersion": "v1", "resource": "namespaces", "labelSelector": {}},
		{"apiVersion": "v1", "resource": "secrets", "namespaceSelector": {"matchLabels": {"team": "a"}}}
	]}`), true)
	require.NoError(t, err)
	assert.Equal(t, "src", rules[0].Namespace)
	assert.Equal(t, []string{"cfg"}, rules[0].Names)
	assert.Nil(t, rules[0].Labels)
	assert.True(t, rules[1].Labels.Empty(), "an empty selector selects all")
	assert.Equal(t, "team=a", rules[2].Namespaces.String())
	rules, err = protocol.DecodeCustomize([]byte(`{}`), true)
	assert.NoError(t, err)
	assert.Empty(t, rules)

	rule := func(text string) string { return `{"relatedResources": [` + text + `]}` }
	for _, row := range []struct{ reason, body, want string }{
		{"no list", `{"relatedResources": {}}`, "relatedResources: must be a list of rules"},
		{"no resource", rule(`{"apiVersion": "v1"}`), "relatedResources[0]: resource: Required value"},
		{"names and labels", rule(`{"apiVersion": "v1", "resource": "pods", "names": ["a"], "labelSelector": {}}`), "names can't be combined"},
		{"a namespace and a selector of them", rule(`{"apiVersion": "v1", "resource": "pods", "namespace": "a", "namespaceSelector": {}}`), "namespace can't be combined"},
		{"a selector that is none", rule(`{"apiVersion": "v1", "resource": "pods", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Has"}]}}`), "labelSelector: "},
		{"a name of two lines", rule(`{"apiVersion": "v1", "resource": "pods", "names": ["a\n"]}`), "names: must be of one line"},
		{"a name that is a number", rule(`{"apiVersion": "v1", "resource": "pods", "names": [1]}`), "relatedResources[0]: "},
		{"an unknown field", rule(`{"apiVersion": "v1", "resource": "pods", "name": "a"}`), `unknown field "name"`},
		{"a rule that is null", rule(`null`), "relatedResources[0]: "},
	} {
		t.Run("hooks 3: "+row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := protocol.DecodeCustomize([]byte(row.body), true)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func FuzzDecodeAnswer(f *testing.F) {
	f.Add([]byte(`{"status": {"a": 1.5}, "children": [`+pod+`], "labels": {"a": null}, "resyncAfterSeconds": 1e18}`), true, false)
	f.Add([]byte(`{"children": [{"metadata": {"labels": []}}]}`), false, true)
	f.Fuzz(func(t *testing.T, body []byte, strict, decorates bool) {
		style := definition.Composite
		if decorates {
			style = definition.Decorator
		}
		answer, err := protocol.DecodeAnswer(body, style, strict)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		assert.GreaterOrEqual(t, answer.ResyncAfter, time.Duration(0))
		for _, child := range answer.Children {
			assert.NotEmpty(t, child.GetName(), fmt.Sprint(child))
			assert.NotEmpty(t, child.GetKind(), fmt.Sprint(child))
		}
	})
}
