package main

import (
	"fmt"
	"io"

	"github.com/operkit/operkit/smp"
)

// apply prints the patched manifest.
func (s settings) apply(stdin io.Reader, stdout io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	texts, err := readAll(stdin, s.document, s.patch)
	if err != nil {
		return err
	}
	var result []byte
	switch s.kind {
	case "json":
		result, err = smp.YAMLText.JSON(texts[0], texts[1], s.options()...)
	case "merge":
		result, err = smp.YAMLText.Merge(texts[0], texts[1], s.options()...)
	default:
		var schema smp.Schema
		if schema, err = s.schema(s.document, texts[0]); err != nil {
			return err
		}
		result, err = smp.YAMLText.Strategic(texts[0], texts[1], schema, s.options()...)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.document, err)
	}
	return s.print(stdout, result)
}

// diff prints the patch between two manifests.
func (s settings) diff(before, after string, stdin io.Reader, stdout io.Writer) error {
	if err := s.check(); err != nil {
		return err
	}
	texts, err := readAll(stdin, before, after)
	if err != nil {
		return err
	}
	var patch []byte
	switch s.kind {
	case "json":
		patch, err = smp.YAMLText.DiffJSON(texts[0], texts[1])
	case "merge":
		patch, err = smp.YAMLText.DiffMerge(texts[0], texts[1])
	default:
		var schema smp.Schema
		if schema, err = s.schema(before, texts[0]); err != nil {
			return err
		}
		patch, err = smp.YAMLText.Diff(texts[0], texts[1], schema)
	}
	if err != nil {
		return fmt.Errorf("%s, %s: %w", before, after, err)
	}
	return s.print(stdout, patch)
}
