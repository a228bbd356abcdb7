package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// names are those of all metrics, with those of which a histogram is made, and the labels of each.
func (m *Metrics) names(t *testing.T) map[string][]string {
	t.Helper()
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		m.registry.Describe(descriptions)
	}()
	names := map[string][]string{}
	name := regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: {([^}]*)}`)
	for one := range descriptions {
		found := name.FindStringSubmatch(one.String())
		require.NotNil(t, found, one.String())
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			names[found[1]+suffix] = append(strings.Split(found[2], ","), "job", "instance", "le")
		}
	}
	// What the collector of the Go runtime offers for versions of Go before it is described only when it is collected.
	families, err := m.registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if names[family.GetName()] == nil {
			names[family.GetName()] = []string{"job", "instance"}
		}
	}
	return names
}

func TestGrafana(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("grafana.json")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	names := New("widget-operator", "").names(t)
	metric := regexp.MustCompile(`\b(?:operkit|controller_runtime|workqueue|rest_client|process|go|leader_election)_[a-z_]+`)
	shown := map[string]bool{}
	for _, panel := range dashboard.Panels {
		assert.LessOrEqual(t, panel.GridPos.X+panel.GridPos.W, 24, panel.Title)
		for _, target := range panel.Targets {
			found := metric.FindAllString(target.Expr, -1)
			assert.NotEmpty(t, found, "%s: %s", panel.Title, target.Expr)
			for _, name := range found {
				assert.NotNil(t, names[name], "%s: there is no metric %s", panel.Title, name)
				shown[name] = true
			}
			for _, selected := range regexp.MustCompile(`([a-z_]+){([^}]*)}`).FindAllStringSubmatch(target.Expr, -1) {
				for _, label := range regexp.MustCompile(`([a-z]+)=`).FindAllStringSubmatch(selected[2], -1) {
					assert.Contains(t, names[selected[1]], label[1], "%s: %s has no such label", panel.Title, selected[1])
				}
			}
			assert.Equal(t, strings.Count(target.Expr, "("), strings.Count(target.Expr, ")"), target.Expr)
			assert.Equal(t, strings.Count(target.Expr, "{"), strings.Count(target.Expr, "}"), target.Expr)
		}
	}
	for _, variable := range dashboard.Templating.List {
		for _, name := range metric.FindAllString(variable.Query, -1) {
			assert.NotNil(t, names[name], name)
		}
	}
	for name := range names {
		if strings.HasPrefix(name, "operkit_resources") && !regexp.MustCompile(`_(bucket|sum|count)$`).MatchString(name) {
			assert.True(t, shown[name], "%s is shown nowhere", name)
		}
	}
}
