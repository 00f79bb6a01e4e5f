# bash completion for coursegate, written by `coursegate completion bash`.

_coursegate() {
  local IFS=$'\n' word=${COMP_WORDS[COMP_CWORD]} offered
  # readline makes three words of --option=value.
  [[ $word == '=' ]] && word=
  offered=$(coursegate __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  COMPREPLY=()
  case $offered in
    :file) compopt -o default ;;
    :folder) compopt -o dirnames ;;
    *) COMPREPLY=($(compgen -W "$offered" -- "$word")) ;;
  esac
}

complete -F _coursegate coursegate
