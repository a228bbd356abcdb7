package setupcommand

import (
	"encoding/json"
	"io"

	"github.com/operkit/operkit/vcs"
)

// document is the report as JSON. Fields may be added but are never removed. An empty list is written as [].
type document struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	// DryRun means that nothing was written. Verified means that the whole new repository was read back and checked.
	DryRun   bool `json:"dryRun"`
	Verified bool `json:"verified"`
	// Root is the empty commit below all versions.
	Root     string            `json:"root"`
	Kept     []keptDocument    `json:"kept"`
	Skipped  []skippedDocument `json:"skipped"`
	Warnings []string          `json:"warnings"`
	Objects  int               `json:"objects"`
	// Bytes is the length of the pack, 0 for a dry run. SourceBytes is the total length of the source's packs and loose
	// objects.
	Bytes       int64   `json:"bytes"`
	SourceBytes int64   `json:"sourceBytes"`
	Seconds     float64 `json:"seconds"`
}

type keptDocument struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// SourceRef and SourceCommit are in the source; Ref, Commit and Tree are in the result.
	SourceRef    string `json:"sourceRef"`
	SourceCommit string `json:"sourceCommit"`
	Ref          string `json:"ref"`
	Commit       string `json:"commit"`
	Tree         string `json:"tree"`
}

type skippedDocument struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func newDocument(s *settings, report vcs.Report) document {
	d := document{
		Source: s.source, Destination: s.destination, DryRun: s.dryRun, Verified: s.verify && !s.dryRun, Root: string(report.Root),
		Kept: []keptDocument{}, Skipped: []skippedDocument{}, Warnings: append([]string{}, report.Warnings...),
		Objects: report.Objects, Bytes: report.Bytes, SourceBytes: report.SourceBytes, Seconds: report.Took.Seconds(),
	}
	for _, kept := range report.Kept {
		d.Kept = append(d.Kept, keptDocument{
			Kind: string(kept.Ref.Kind), Name: kept.Name, SourceRef: kept.Ref.Full, SourceCommit: string(kept.Ref.Commit),
			Ref: kept.Full, Commit: string(kept.Commit), Tree: kept.Tree,
		})
	}
	for _, skipped := range report.Skipped {
		d.Skipped = append(d.Skipped, skippedDocument{string(skipped.Ref.Kind), skipped.Ref.Name, skipped.Reason})
	}
	return d
}

func writeDocument(out io.Writer, d document) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(d)
}
