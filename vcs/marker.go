package vcs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// markerName is the file that marks a folder as a complete checkout.
const markerName = ".operkit-checkout"

// marker is the content of the file markerName.
type marker struct {
	Commit Commit `json:"commit"`
	Method Method `json:"method"`
}

// maxMarker is the maximum length of this file, in bytes.
const maxMarker = 4096

var (
	errAbsent  = errors.New("there is no checkout yet")
	errForeign = errors.New("it holds something that isn't a checkout")
)

// readMarker returns the marker of the checkout in a folder, or errAbsent if the folder is empty or doesn't exist.
func readMarker(path string) (marker, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return marker{}, errAbsent
	case err != nil:
		return marker{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		return marker{}, errors.New("it is a symbolic link")
	case !info.IsDir():
		return marker{}, errors.New("it is a file")
	}
	file, err := os.OpenFile(filepath.Join(path, markerName), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return marker{}, emptyOr(path, errForeign)
	}
	if err != nil {
		return marker{}, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxMarker))
	if err = errors.Join(err, file.Close()); err != nil {
		return marker{}, err
	}
	var m marker
	if err := json.Unmarshal(text, &m); err != nil || m.Commit == "" {
		return marker{}, fmt.Errorf("its file %s can't be read: remove the folder", markerName)
	}
	return m, nil
}

// emptyOr returns errAbsent for an empty folder, and the error otherwise for a folder with content.
func emptyOr(path string, otherwise error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = file.Readdirnames(1)
	_ = file.Close()
	if errors.Is(err, io.EOF) {
		return errAbsent
	}
	return otherwise
}

// writeMarker writes and syncs the file markerName.
func writeMarker(root *os.Root, m marker) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return writeDurable(filepath.Join(root.Name(), markerName), string(text)+"\n")
}

// syncFolder syncs the names in a folder.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
