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

// markerName is the file by which a checkout is known to be one, and complete.
const markerName = ".operkit-checkout"

// marker is what it says.
type marker struct {
	Commit Commit `json:"commit"`
	Method Method `json:"method"`
}

// mostMarker is how large the file may be.
const mostMarker = 4096

var (
	errAbsent  = errors.New("there is nothing yet")
	errForeign = errors.New("it holds something that isn't a checkout")
)

// readMarker says what is checked out in a folder: errAbsent if nothing is.
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
	text, err := io.ReadAll(io.LimitReader(file, mostMarker))
	if err = errors.Join(err, file.Close()); err != nil {
		return marker{}, err
	}
	var m marker
	if err := json.Unmarshal(text, &m); err != nil || m.Commit == "" {
		return marker{}, fmt.Errorf("its file %s can't be read: remove the folder", markerName)
	}
	return m, nil
}

// emptyOr is errAbsent for an empty folder, which somebody made for what is to come.
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

// writeMarker writes the file, so that it is on the disk.
func writeMarker(root *os.Root, m marker) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file, err := root.OpenFile(markerName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

// syncFolder has the names in a folder on the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
