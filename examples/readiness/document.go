package main

import (
	stdjson "encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// document is one document of a file.
type document struct {
	text   string
	before int // number of lines in the file before the document
	json   bool
}

// newlines replaces the three line endings of YAML by one.
var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// split cuts a file into its documents. Lines --- and ... delimit YAML documents; comments and directives before the
// first document belong to it. JSON values may follow one another without a separator, as jq writes them.
func split(text string) []document {
	var documents []document
	var current strings.Builder
	lines, start, begun, filled := 0, 0, false, false
	end := func() {
		if begun || filled {
			documents = append(documents, values(document{text: current.String(), before: start})...)
			current.Reset()
			start, begun, filled = lines, false, false
		}
	}
	for line := range strings.Lines(newlines.Replace(strings.TrimPrefix(text, "\ufeff"))) {
		switch {
		case marks(line, "..."):
			end()
			line = "\n"
		case marks(line, "---"):
			if begun || filled {
				end()
			}
			begun = true
		case !begun && !strings.HasPrefix(line, "%"):
			said := strings.TrimSpace(line)
			filled = filled || said != "" && !strings.HasPrefix(said, "#")
		}
		current.WriteString(line)
		lines++
	}
	end()
	return documents
}

// marks reports whether a line is a marker, alone or with something after it.
func marks(line, marker string) bool {
	rest, ok := strings.CutPrefix(line, marker)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\n"))
}

// values splits off the JSON values at the beginning of a document.
func values(d document) []document {
	if !strings.HasPrefix(strings.TrimSpace(d.text), "{") {
		return []document{d}
	}
	var found []document
	decoder := stdjson.NewDecoder(strings.NewReader(d.text))
	rest := d.text
	for {
		var value stdjson.RawMessage
		if err := decoder.Decode(&value); err != nil {
			break
		}
		found = append(found, document{text: string(value), json: true})
		rest = d.text[decoder.InputOffset():]
	}
	if strings.TrimSpace(rest) != "" {
		before := d.before + strings.Count(d.text, "\n") - strings.Count(rest, "\n")
		found = append(found, document{text: rest, before: before})
	}
	return found
}

// decode decodes a document. It returns nil for an empty one. Integers stay integers, however large.
func (d document) decode() (content any, err error) {
	compact := []byte(d.text)
	if !d.json {
		if compact, err = yaml.YAMLToJSONStrict(compact); err != nil {
			// With the lines before it, the error names the line in the file.
			_, err = yaml.YAMLToJSONStrict([]byte(strings.Repeat("\n", d.before) + d.text))
			return nil, err
		}
	}
	err = json.Unmarshal(compact, &content)
	return content, err
}
