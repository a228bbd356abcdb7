package record

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

// gzipped begins a text that is compressed; JSON begins with a brace.
const gzipped = "gzip:"

// longest bounds what is unpacked: an object has at most 3 MiB.
const longest = 4 << 20

func packed(document []byte) (string, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write(document); err != nil {
		return "", err
	}
	if err := writer.Close(); err != nil {
		return "", err
	}
	return gzipped + base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

func unpacked(text string) ([]byte, error) {
	encoded, isPacked := strings.CutPrefix(text, gzipped)
	if !isPacked {
		return []byte(text), nil
	}
	reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(encoded)))
	if err != nil {
		return nil, fmt.Errorf("it can't be unpacked: %w", err)
	}
	document, err := io.ReadAll(io.LimitReader(reader, longest+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("it can't be unpacked: %w", err)
	case len(document) > longest:
		return nil, errors.New("it is too large")
	}
	return document, nil
}
