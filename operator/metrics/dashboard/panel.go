package main

// panel is one of a dashboard.
type panel map[string]any

var source = map[string]any{"type": "prometheus", "uid": "${datasource}"}

// graph is a panel with lines over time.
func graph(title, unit, description string, queries ...map[string]any) panel {
	return newPanel("timeseries", title, unit, description, queries)
}

// stacked has the lines stand on each other.
func (p panel) stacked() panel {
	config, _ := p["fieldConfig"].(map[string]any)
	defaults, _ := config["defaults"].(map[string]any)
	defaults["custom"] = map[string]any{"fillOpacity": 30, "stacking": map[string]any{"mode": "normal", "group": "A"}}
	return p
}

// stat is a panel with one number.
func stat(title, unit, description string, queries ...map[string]any) panel {
	return newPanel("stat", title, unit, description, queries)
}

func newPanel(kind, title, unit, description string, queries []map[string]any) panel {
	targets := make([]any, len(queries))
	for i, query := range queries {
		query["refId"] = string(rune('A' + i))
		targets[i] = query
	}
	return panel{
		"type": kind, "title": title, "description": description, "datasource": source, "targets": targets,
		"fieldConfig": map[string]any{"defaults": map[string]any{"unit": unit, "min": 0}, "overrides": []any{}},
	}
}

// query is one of Prometheus; legend names its lines.
func query(expression, legend string) map[string]any {
	return map[string]any{"expr": expression, "legendFormat": legend, "datasource": source}
}

// variable is a choice of the reader, of all by default.
func variable(name, label, query string) map[string]any {
	return map[string]any{
		"name": name, "label": label, "type": "query", "query": query, "datasource": source, "refresh": 2, "sort": 1,
		"multi": true, "includeAll": true, "current": map[string]any{"text": "All", "value": "$__all"},
	}
}

// placer puts panels below each other.
type placer struct {
	panels []panel
	y      int
}

// Grafana's grid is so many columns wide.
const columns = 24

// row places panels beside each other, under a heading unless the title is empty.
func (p *placer) row(title string, panels ...panel) {
	if title != "" {
		p.add(panel{"type": "row", "title": title, "collapsed": false, "panels": []any{}}, 0, columns, 1)
		p.y++
	}
	width, height := columns/len(panels), 8
	if panels[0]["type"] == "stat" {
		height = 4
	}
	for i, one := range panels {
		p.add(one, i*width, width, height)
	}
	p.y += height
}

func (p *placer) add(one panel, x, width, height int) {
	one["id"] = len(p.panels) + 1
	one["gridPos"] = map[string]any{"x": x, "y": p.y, "w": width, "h": height}
	p.panels = append(p.panels, one)
}
