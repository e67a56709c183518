package console

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/belfry-dev/belfry/core/jsonscan"
)

// maxPayload bounds what is read: one byte more than the server takes.
const maxPayload = 1<<20 + 1

// ReadPayload reads the JSON that a flag gives: itself, @file, or - for standard input. It is nil where text is empty.
func (a *App) ReadPayload(text string) (payload []byte, err error) {
	switch {
	case text == "":
		return nil, nil
	case text == "-":
		payload, err = io.ReadAll(io.LimitReader(a.In, maxPayload))
	case strings.HasPrefix(text, "@"):
		payload, err = ReadFile("--payload", text[1:])
	default:
		payload = []byte(text)
	}
	var wrong *usageError
	switch {
	case errors.As(err, &wrong):
		return nil, err
	case err != nil:
		return nil, Usage("--payload: %s", err)
	}
	if fault := jsonscan.EncodingFault(payload); fault != "" {
		return nil, Usage("--payload %s", fault)
	}
	if _, err := jsonscan.Scan(payload); err != nil {
		return nil, Usage("--payload must be JSON; a text stands in quotes: --payload '\"text\"' (%s)", err)
	}
	return payload, nil
}

// ReadFile reads the file that a flag names after an @.
func ReadFile(flag, name string) (payload []byte, err error) {
	if name == "" {
		return nil, Usage("%s: behind @ stands the name of a file", flag)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, Usage("%s: %s: %s", flag, name, FileReason(err))
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, maxPayload))
}

// PlainText is the text of a file without the byte order mark that some editors begin it with. The error is the end of a
// sentence about the file: how it is encoded instead of in UTF-8.
func PlainText(text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte(jsonscan.ByteOrderMark))
	if fault := jsonscan.EncodingFault(text); fault != "" {
		return nil, errors.New(fault)
	}
	return text, nil
}
