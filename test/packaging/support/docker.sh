#!/bin/sh
# Stands in for `docker` where there is no daemon: runs the image's program in the image's files (/srv/image), read-only and
# as its user, with the network of the host. It knows the options that docs/install.md uses, and no others.
set -e
verb=$1
shift
name= mounts= detach=
[ "$verb" = load ] && exec test -e "$2"
while [ "$verb" = run ]; do
  case "$1" in
    --rm | --read-only) shift ;;
    --detach) detach=yes && shift ;;
    --name) name=$2 && shift 2 ;;
    --network) [ "$2" = host ] && shift 2 ;;
    --restart | --tmpfs | --cap-drop | --security-opt) shift 2 ;;
    --volume) mounts="$mounts $2" && shift 2 ;;
    -*) echo "no such option here: $1" >&2 && exit 125 ;;
    *) break ;;
  esac
done
[ "$verb" = run ] || { [ "$verb" = exec ] && mounts=$(cat "/run/docker-$1"); }
shift
[ "$verb" = exec ] && shift
[ $# -gt 0 ] || set -- serve --config /etc/coursegate/coursegate.yaml
[ -z "$name" ] || echo "$mounts" >"/run/docker-$name"
script='set -e
  folder=$(mktemp -d /run/container-XXXXXX)
  mount -t tmpfs tmpfs "$folder"
  mkdir "$folder/upper" "$folder/work" "$folder/root"
  mount -t overlay overlay -o "lowerdir=/srv/image,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"
  cd "$folder/root"
  mkdir -p proc dev tmp etc
  touch etc/hosts
  mount -t proc proc proc
  mount --rbind /dev dev
  mount -t tmpfs tmpfs tmp
  cp /etc/ssl/test-ca.pem tmp
  mount --bind /etc/hosts etc/hosts
  for mount in $0; do
    from=${mount%%:*} rest=${mount#*:}
    # A name is a volume, which the engine makes with the owner of the folder in the image.
    case "$from" in
      /*) ;;
      *) from=/srv/volumes/$from && install -d -o 65532 -g 65532 "$from" ;;
    esac
    mkdir -p ".${rest%:ro}"
    mount --bind "$from" ".${rest%:ro}"
    [ "$rest" = "${rest%:ro}" ] || mount -o remount,bind,ro ".${rest%:ro}"
  done
  mount -o remount,bind,ro "$folder/root"
  exec env -i PATH=/usr/local/bin NODE_EXTRA_CA_CERTS=/tmp/test-ca.pem \
    /usr/sbin/chroot --userspec=65532:65532 "$folder/root" coursegate "$@"'
set -- unshare --mount sh -c "$script" "$mounts" "$@"
[ -z "$detach" ] || set -- systemd-run --quiet --unit="docker-$name" "$@"
exec "$@"
